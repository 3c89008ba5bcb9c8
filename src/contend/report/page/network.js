// The network that a page holds: its parts, its names, and where routes lead.
// Channels are numbered as everywhere in contend: cable k carries 2k (from -> to) and 2k + 1
// (to -> from), then come one channel from every host, then one to every host.

const ARRAYS = {
  u1: Uint8Array, u2: Uint16Array, u4: Uint32Array, i4: Int32Array, f4: Float32Array,
};

/** Reads what `contents.py` has packed. */
async function unpack(text) {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const inflated = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return JSON.parse(await new Response(inflated).text(), (_, value) => {
    const kind = value && typeof value === "object" && Object.keys(value)[0];
    if (!(kind in ARRAYS) || typeof value[kind] !== "string") return value;
    const raw = Uint8Array.from(atob(value[kind]), (letter) => letter.charCodeAt(0));
    return new ARRAYS[kind](raw.buffer);
  });
}

class Network {
  constructor(contents) {
    Object.assign(this, contents);
    this.jobs = this.hostsBy.jobs || [];
    const fabric = contents.fabric;
    this.hosts = fabric.host.length;
    this.switches = fabric.switch.length;
    this.cables = fabric.from.length;
    this.hostsOf = Array.from({ length: this.switches }, () => []);
    this.cablesOf = Array.from({ length: this.switches }, () => []);
    this._out = Array.from({ length: this.switches }, () => new Map());
    for (let host = 0; host < this.hosts; host++) {
      this.hostsOf[fabric.hostSwitch[host]].push(host);
      this._out[fabric.hostSwitch[host]].set(fabric.hostPort[host], this.toHost(host));
    }
    this._pairs = new Map();
    for (let cable = 0; cable < this.cables; cable++) {
      const [one, other] = [fabric.from[cable], fabric.to[cable]];
      this.cablesOf[one].push(cable);
      if (other !== one) this.cablesOf[other].push(cable);
      this._out[one].set(fabric.fromPort[cable], 2 * cable);
      this._out[other].set(fabric.toPort[cable], 2 * cable + 1);
      const key = this._key(one, other);
      if (!this._pairs.has(key)) this._pairs.set(key, []);
      this._pairs.get(key).push(cable);
    }
    this.costOf = new Map(this.costs.map(([part, number, words]) => [`${part} ${number}`, words]));
  }

  _key(one, other) {
    return Math.min(one, other) * this.switches + Math.max(one, other);
  }

  fromHost(host) {
    return 2 * this.cables + host;
  }

  toHost(host) {
    return 2 * this.cables + this.hosts + host;
  }

  /** All cables that join the two switches of one. */
  parallel(cable) {
    return this._pairs.get(this._key(this.fabric.from[cable], this.fabric.to[cable]));
  }

  /** The switch that a channel between switches leaves, and the one where it arrives. */
  ends(channel) {
    const cable = channel >> 1;
    const both = [this.fabric.from[cable], this.fabric.to[cable]];
    return channel & 1 ? both.reverse() : both;
  }

  portName(number, port) {
    return `${this.fabric.short[number]} port ${port}`;
  }

  cableName(cable) {
    const fabric = this.fabric;
    const near = this.portName(fabric.from[cable], fabric.fromPort[cable]);
    return `${near} – ${this.portName(fabric.to[cable], fabric.toPort[cable])}`;
  }

  channelName(channel) {
    const fabric = this.fabric;
    if (channel >= 2 * this.cables) {
      const place = channel - 2 * this.cables;
      const host = place % this.hosts;
      const port = this.portName(fabric.hostSwitch[host], fabric.hostPort[host]);
      return place < this.hosts ? `${fabric.host[host]} → ${port}` : `${port} → ${fabric.host[host]}`;
    }
    const [near, far] = this.cableName(channel >> 1).split(" – ");
    return channel & 1 ? `${far} → ${near}` : `${near} → ${far}`;
  }

  rateOf(channel) {
    const { rates, rate, hostRate } = this.fabric;
    const place = channel - 2 * this.cables;
    return rates[place < 0 ? rate[channel >> 1] : hostRate[place % this.hosts]];
  }

  get followsTables() {
    return Boolean(this.tables.ports);
  }

  /** The channel by which a switch sends to a host; undefined where its table names none. */
  next(number, host) {
    return this._out[number].get(this.tables.ports[number * this.hosts + host]);
  }

  /** The route between two hosts: its channels, and whether it arrives. */
  route(source, target) {
    const channels = [this.fromHost(source)];
    let at = this.fabric.hostSwitch[source];
    for (let hop = 0; hop <= this.switches; hop++) {
      const channel = this.next(at, target);
      if (channel === undefined) return { channels, arrives: false };
      channels.push(channel);
      if (channel >= 2 * this.cables) return { channels, arrives: channel === this.toHost(target) };
      at = this.ends(channel)[1];
    }
    return { channels, arrives: false };
  }

  /** All channels on shortest ways between two hosts, nearest the source first. */
  shortestWays(source, target) {
    const start = this.fabric.hostSwitch[source];
    const goal = this.fabric.hostSwitch[target];
    const hops = new Map([[goal, 0]]);
    let ring = [goal];
    while (ring.length && !hops.has(start)) {
      const further = [];
      for (const number of ring) {
        for (const cable of this.cablesOf[number]) {
          const other = this.fabric.from[cable] + this.fabric.to[cable] - number;
          if (hops.has(other)) continue;
          hops.set(other, hops.get(number) + 1);
          further.push(other);
        }
      }
      ring = further;
    }
    const channels = [this.fromHost(source)];
    if (!hops.has(start)) return { channels, arrives: false };
    let here = new Set([start]);
    for (let left = hops.get(start); left > 0; left--) {
      const there = new Set();
      for (const number of here) {
        for (const cable of this.cablesOf[number]) {
          const channel = this.fabric.from[cable] === number ? 2 * cable : 2 * cable + 1;
          const other = this.ends(channel)[1];
          if (hops.get(other) !== left - 1) continue;
          channels.push(channel);
          there.add(other);
        }
      }
      here = there;
    }
    channels.push(this.toHost(target));
    return { channels, arrives: true };
  }

  /** Who sends over a channel between switches, if all hosts send to all. */
  users(channel) {
    const [near] = this.ends(channel);
    const targets = [];
    const sources = new Map();
    const leaves = this.hostsOf.flatMap((hosts, number) => (hosts.length ? [number] : []));
    let routes = 0;
    for (let host = 0; host < this.hosts; host++) {
      if (this.next(near, host) !== channel) continue;
      let reached = 0;
      for (const leaf of leaves) {
        let at = leaf;
        for (let hop = 0; at !== near && hop <= this.switches; hop++) {
          const onward = this.next(at, host);
          if (onward === undefined || onward >= 2 * this.cables) break;
          at = this.ends(onward)[1];
        }
        if (at !== near) continue;
        const count = this.hostsOf[leaf].length - (leaf === this.fabric.hostSwitch[host] ? 1 : 0);
        reached += count;
        sources.set(leaf, (sources.get(leaf) || 0) + count);
      }
      if (reached) targets.push([host, reached]);
      routes += reached;
    }
    targets.sort((one, other) => other[1] - one[1]);
    return { routes, targets, sources: [...sources].sort((one, other) => other[1] - one[1]) };
  }

  /** What a switch has: cables by the level of their other ends, and their capacity. */
  sides(number) {
    const side = () => ({ cables: 0, capacity: 0 });
    const sides = { up: side(), across: side(), down: side(), hosts: side() };
    const level = this.level;
    for (const cable of this.cablesOf[number]) {
      const other = this.fabric.from[cable] + this.fabric.to[cable] - number;
      const step = Math.sign(level[other] - level[number]);
      const where = sides[step > 0 ? "up" : step < 0 ? "down" : "across"];
      where.cables += 1;
      where.capacity += this.fabric.capacity[cable];
    }
    for (const host of this.hostsOf[number]) {
      sides.hosts.cables += 1;
      sides.hosts.capacity += this.fabric.hostCapacity[host];
    }
    return sides;
  }
}
