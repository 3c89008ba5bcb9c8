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
    this.jobsOn = new Map(this.jobsOn);
    const fabric = contents.fabric;
    this.hosts = fabric.host.length;
    this.switches = fabric.switch.length;
    this.cables = fabric.from.length;
    this._known = new Map();
    this._pairs = new Map();
    for (let cable = 0; cable < this.cables; cable++) {
      const key = this._key(fabric.from[cable], fabric.to[cable]);
      if (!this._pairs.has(key)) this._pairs.set(key, []);
      this._pairs.get(key).push(cable);
    }
    this._numberGroups();
    const rate = [...fabric.rate, ...fabric.hostRate];
    for (const view of this.views) {
      view.lacks = new Set(view.missing.map((part) => part.join(" ")));
      view.rate ??= rate; // of every cable, then of every host
    }
    this.twinOf = new Map(this.twins.flatMap(([part, one, other]) =>
      [[`${part} ${one}`, other], [`${part} ${other}`, one]]));
    this.costOf = new Map(this.costs.map(([part, number, words]) => [`${part} ${number}`, words]));
  }

  /** Groups of several drawings have numbers of their own each. */
  _numberGroups() {
    this.drawings = this.drawing ? [this.drawing] : this.views.map((view) => view.drawing);
    this.groupName = [];
    for (const { groups, scene } of this.drawings) {
      const before = this.groupName.length;
      groups.of = groups.of.map((group) => (group < 0 ? group : group + before));
      for (const box of scene.boxes) box[4] += before;
      this.groupName.push(...groups.name);
    }
  }

  /** Takes a state: its tables, and what there is in it. */
  look(view) {
    this.view = view;
    this.tables = view.tables;
    this.level = (view.drawing ?? this.drawing).level;
    const known = view.missing.length ? view : null;
    if (!this._known.has(known)) this._known.set(known, this._joined(view));
    Object.assign(this, this._known.get(known));
  }

  /** What one finds out of a state, which is left as it was. */
  under(view, find) {
    const before = this.view;
    this.look(view);
    const found = find(view);
    this.look(before);
    return found;
  }

  _joined(view) {
    const { fabric } = this;
    const each = (make) => Array.from({ length: this.switches }, make);
    const [hostsOf, cablesOf, out] = [each(() => []), each(() => []), each(() => new Map())];
    for (let host = 0; host < this.hosts; host++) {
      if (view.lacks.has(`host ${host}`)) continue;
      hostsOf[fabric.hostSwitch[host]].push(host);
      out[fabric.hostSwitch[host]].set(fabric.hostPort[host], this.toHost(host));
    }
    for (let cable = 0; cable < this.cables; cable++) {
      if (view.lacks.has(`cable ${cable}`)) continue;
      const [one, other] = [fabric.from[cable], fabric.to[cable]];
      cablesOf[one].push(cable);
      if (other !== one) cablesOf[other].push(cable);
      out[one].set(fabric.fromPort[cable], 2 * cable);
      out[other].set(fabric.toPort[cable], 2 * cable + 1);
    }
    return { hostsOf, cablesOf, _out: out };
  }

  /** A part that this state has elsewhere, by its number there. */
  here(part, number) {
    const name = `${part} ${number}`;
    return this.view.lacks.has(name) ? this.twinOf.get(name) ?? number : number;
  }

  /** The switches of a group. */
  membersOf(group) {
    return this.drawings.flatMap(({ groups }) => groups.of.flatMap((of, number) => (of === group ? [number] : [])));
  }

  groupOf(number) {
    return (this.view.drawing ?? this.drawing).groups.of[number];
  }

  /** The name of a switch, a host or a cable. */
  nameOf(part, number) {
    return part === "cable" ? this.cableName(number) : this.fabric[part][number];
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

  /** All cables that join the two switches of one, in a state. */
  parallel(cable, view = this.view) {
    const all = this._pairs.get(this._key(this.fabric.from[cable], this.fabric.to[cable]));
    return view.missing.length ? all.filter((one) => one === cable || !view.lacks.has(`cable ${one}`)) : all;
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
    const place = channel - 2 * this.cables;
    const number = place < 0 ? channel >> 1 : this.cables + (place % this.hosts);
    return this.fabric.rates[this.view.rate[number]];
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
