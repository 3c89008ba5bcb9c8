// Where the parts of a network stand in one drawing of it.

const DOT = 0.34; // of the room that a host has

/** The room that a text takes, in pixels; upwards is more. */
const extent = (x, y, text, size, { angle, across, along }) => {
  const [wide, high] = [0.56 * size * text.length, size];
  const left = { left: 0, center: -wide / 2, right: -wide }[across];
  const low = { bottom: 0, middle: -high / 2, top: -high }[along];
  const corners = [left, left + wide].flatMap((one) => [low, low + high].map((other) =>
    [one * Math.cos(angle) - other * Math.sin(angle), one * Math.sin(angle) + other * Math.cos(angle)]));
  const [xs, ys] = [0, 1].map((axis) => corners.map((corner) => corner[axis]));
  return { left: x + Math.min(...xs), right: x + Math.max(...xs), low: y + Math.min(...ys), high: y + Math.max(...ys) };
};

class Places {
  /** `hostsOf` lists the hosts of every switch that are drawn. */
  constructor(network, drawing, hostsOf) {
    this.network = network;
    this.scene = drawing.scene;
    this.groups = drawing.groups;
    this.level = drawing.level;
    this.idle = new Set(drawing.idle);
    this.hostsOf = hostsOf;
    this.cablesOfLine = this.scene.lines.map(() => []);
    this.scene.lineOf.forEach((line, cable) => line >= 0 && this.cablesOfLine[line].push(cable));
    this.pitch = this._pitches();
    this.hosts = this._placesOfHosts();
    this.top = this.level.reduce((one, other) => Math.max(one, other), 0);
  }

  of(number) {
    return [this.scene.place[2 * number], this.scene.place[2 * number + 1]];
  }

  /** Distance of every switch to the nearest other one. */
  _pitches() {
    const { place, width } = this.scene;
    const pitch = new Float64Array(this.network.switches).fill(width);
    const byX = [...pitch.keys()].sort((one, other) => place[2 * one] - place[2 * other]);
    byX.forEach((one, at) => {
      for (const step of [-1, 1]) {
        for (let next = at + step; next >= 0 && next < byX.length; next += step) {
          const [across, along] = [0, 1].map((axis) => place[2 * byX[next] + axis] - place[2 * one + axis]);
          if (Math.abs(across) >= pitch[one]) break;
          pitch[one] = Math.min(pitch[one], Math.hypot(across, along));
        }
      }
    });
    return pitch;
  }

  /** Hosts stand in rows within the square of their switch. */
  _placesOfHosts() {
    const { side } = this.scene;
    const places = new Map();
    this.hostsOf.forEach((hosts, number) => {
      const [x, y] = this.of(number);
      const across = Math.ceil(Math.sqrt(hosts.length));
      const step = side / Math.max(across, 1);
      hosts.forEach((host, at) => {
        places.set(host, {
          x: x - side / 2 + (at % across + 0.5) * step,
          y: y + side / 2 - (Math.floor(at / across) + 0.5) * step,
          radius: DOT * step,
        });
      });
    });
    return places;
  }

  /** Where a cable is drawn. */
  line(cable) {
    const { scene } = this;
    const line = scene.lineOf[cable];
    if (!scene.bundled && line >= 0) {
      return scene.lines[line].map((values) => values.map((value) => (value === null ? NaN : value)));
    }
    const { from, to } = this.network.fabric;
    const [one, other] = [this.of(from[cable]), this.of(to[cable])];
    return [[one[0], other[0]], [one[1], other[1]]];
  }

  /** The middle of a part; of a cable that of its line. */
  middle(part, number) {
    if (part === "switch") return this.of(number);
    if (part === "host") {
      const { x, y } = this.hosts.get(number);
      return [x, y];
    }
    const [xs, ys] = this.line(number);
    if (xs.length === 2) return [(xs[0] + xs[1]) / 2, (ys[0] + ys[1]) / 2];
    // A line that leaves at an edge and comes back at another is interrupted in its middle.
    const at = xs.some(Number.isNaN) ? 1 : xs.length >> 1;
    return [xs[at], ys[at]];
  }
}
