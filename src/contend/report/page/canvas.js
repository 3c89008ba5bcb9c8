// Fills the drawing: what lies where, in which colour, and as large as there is room for.

const PLAIN = "#8C9BA8", QUIET = "#D5D5D5", HOST = "#0072B2", SWITCH = "#222222";
const HUES = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#999999", "#F0E442"];
const LETTERS = { least: 7, most: 13 }; // pixels
const WIDTH_OF_LETTER = 0.65;
const DOT = 0.34; // of the room that a host has

const rounded = (value) =>
  value === 0 ? "0" : Math.abs(value) >= 1000
    ? Math.round(value).toLocaleString("en")
    : Number(value.toPrecision(3)).toString();

const counted = (count, what) => {
  const plural = /(ch|s)$/.test(what) ? `${what}es` : `${what}s`;
  return `${count.toLocaleString("en")} ${count === 1 ? what : plural}`;
};

class Canvas {
  constructor(network, row, colours) {
    this.network = network;
    this.row = row;
    this.colours = colours;
    const scene = network.scene;
    this.place = (number) => [scene.place[2 * number], scene.place[2 * number + 1]];
    this._cablesOfLine = scene.lines.map(() => []);
    scene.lineOf.forEach((line, cable) => line >= 0 && this._cablesOfLine[line].push(cable));
    this._pitch = this._pitches();
    this._hostPlaces = this._placesOfHosts();
    this._top = network.level.reduce((one, other) => Math.max(one, other), 0);
    this.opened = new Set();
    this.spread = []; // cables that are drawn one by one, whatever is open
    this.panes = row.children;
  }

  source(kind, pane) {
    return this.row.document.get_model_by_name(`${kind}-${pane}`);
  }

  /** Distance of every switch to the next one beside it. */
  _pitches() {
    const rows = new Map();
    for (let number = 0; number < this.network.switches; number++) {
      const [x, y] = this.place(number);
      const row = Math.round(y * 500);
      if (!rows.has(row)) rows.set(row, []);
      rows.get(row).push([x, number]);
    }
    const pitch = new Float64Array(this.network.switches).fill(this.network.scene.width);
    for (const row of rows.values()) {
      row.sort((one, other) => one[0] - other[0]);
      for (let at = 1; at < row.length; at++) {
        const apart = row[at][0] - row[at - 1][0];
        for (const [, number] of [row[at], row[at - 1]]) {
          pitch[number] = Math.min(pitch[number], apart);
        }
      }
    }
    return pitch;
  }

  /** Hosts stand in rows within the square of their switch. */
  _placesOfHosts() {
    const { network } = this;
    const side = network.scene.side;
    const places = new Array(network.hosts);
    network.hostsOf.forEach((hosts, number) => {
      const [x, y] = this.place(number);
      const across = Math.ceil(Math.sqrt(hosts.length));
      const step = side / Math.max(across, 1);
      hosts.forEach((host, at) => {
        places[host] = {
          x: x - side / 2 + (at % across + 0.5) * step,
          y: y + side / 2 - (Math.floor(at / across) + 0.5) * step,
          radius: DOT * step,
        };
      });
    });
    return places;
  }

  /** Draws a view into a pane. */
  draw(pane, view, layer) {
    const gone = new Set(view.gone.map((part) => part.join(" ")));
    const dead = (cable) =>
      gone.has(`cable ${cable}`) ||
      gone.has(`switch ${this.network.fabric.from[cable]}`) ||
      gone.has(`switch ${this.network.fabric.to[cable]}`);
    this._drawLines(pane, layer, dead);
    this._drawSpread(pane, layer, dead);
    this._drawSwitches(pane, gone, layer);
    this._drawMarks(pane, gone);
    this.write(pane);
  }

  _drawLines(pane, layer, dead) {
    const { scene } = this.network;
    const most = Math.max(1, ...this._cablesOfLine.map((cables) => cables.length));
    const thin = Math.min(1, Math.sqrt(60 / Math.max(scene.lines.length, 1)));
    const single = Math.min(Math.max(14 / Math.sqrt(Math.max(scene.lines.length, 1)), 0.4), 1.3);
    const width = (cables) => scene.bundled
      ? Math.max(1, 10 * cables / most) * thin
      : 1.7 * single * Math.sqrt(cables);
    const order = this._cablesOfLine.map((cables, line) => [this._colourOf(cables, layer, dead), line]);
    order.sort((one, other) => one[0].rank - other[0].rank);
    const data = { xs: [], ys: [], colour: [], width: [], dash: [], tip: [] };
    const open = ([, line]) => scene.bundled && this._cablesOfLine[line].some((cable) => this._isOpen(cable));
    this.lineAt = order.filter((one) => !open(one)).map(([look, line]) => {
      const cables = this._cablesOfLine[line];
      const number = (value) => (value === null ? NaN : value);
      data.xs.push(scene.lines[line][0].map(number));
      data.ys.push(scene.lines[line][1].map(number));
      data.colour.push(look.colour);
      data.dash.push(look.dash);
      data.width.push(width(cables.length));
      data.tip.push(this._tipOf(cables, layer));
      return cables;
    });
    this.source("lines", pane).data = data;
  }

  /** Pairs of switches whose cables are drawn one by one: those of open groups and of what is chosen. */
  _drawSpread(pane, layer, dead) {
    const data = { xs: [], ys: [], colour: [], width: [], dash: [], tip: [] };
    this.spreadAt = [];
    if (this.network.scene.bundled) {
      const pairs = new Map();
      const add = (cable) => {
        const cables = this.network.parallel(cable);
        pairs.set(cables[0], cables);
      };
      this.spread.forEach(add);
      if (this.opened.size) {
        for (let cable = 0; cable < this.network.cables; cable++) if (this._isOpen(cable)) add(cable);
      }
      const each = [...pairs.values()].map((cables) => [this._colourOf(cables, layer, dead), cables]);
      each.sort((one, other) => one[0].rank - other[0].rank);
      for (const [look, cables] of each) {
        const [xs, ys] = this.line(cables[0]);
        data.xs.push(xs);
        data.ys.push(ys);
        data.colour.push(look.colour);
        data.dash.push(look.dash);
        data.width.push(1.2 * Math.sqrt(cables.length));
        data.tip.push(this._tipOf(cables, layer));
        this.spreadAt.push(cables);
      }
    }
    this.source("cables", pane).data = data;
  }

  _isOpen(cable) {
    const { of } = this.network.groups;
    return this.opened.has(of[this.network.fabric.from[cable]]) || this.opened.has(of[this.network.fabric.to[cable]]);
  }

  /** Where a cable is drawn. */
  line(cable) {
    const { scene, fabric } = this.network;
    const line = scene.lineOf[cable];
    if (!scene.bundled && line >= 0) {
      return scene.lines[line].map((values) => values.map((value) => (value === null ? NaN : value)));
    }
    const [one, other] = [this.place(fabric.from[cable]), this.place(fabric.to[cable])];
    return [[one[0], other[0]], [one[1], other[1]]];
  }

  _colourOf(cables, layer, dead) {
    const left = cables.filter((cable) => !dead(cable));
    if (!left.length) return { colour: "#D55E00", dash: "dashed", rank: Infinity };
    if (layer.kind === "rate") {
      const rate = Math.max(...left.map((cable) => layer.rank[this.network.fabric.rate[cable]]));
      return { colour: HUES[rate % HUES.length], dash: "solid", rank: rate };
    }
    if (layer.kind !== "load") return { colour: PLAIN, dash: "solid", rank: 0 };
    const heat = Math.max(...left.map((cable) => this.heat(cable, layer)));
    return { colour: heat ? this.colourOf(heat, layer) : QUIET, dash: "solid", rank: heat };
  }

  heat(cable, layer) {
    return Math.max(layer.heat[2 * cable], layer.heat[2 * cable + 1]);
  }

  colourOf(heat, layer) {
    const place = Math.round((heat / layer.most) * (this.colours.length - 1));
    return this.colours[Math.min(Math.max(place, 0), this.colours.length - 1)];
  }

  _tipOf(cables, layer) {
    const { network } = this;
    const first = cables[0];
    let words = network.cableName(first);
    if (cables.length > 1) {
      const { of, name } = network.groups || {};
      const ends = [network.fabric.from[first], network.fabric.to[first]];
      const same = network.parallel(first).length >= cables.length;
      const names = ends.map((end) => (same || !of ? network.fabric.short[end] : name[of[end]]));
      words = `${counted(cables.length, "cable")}: ${names.join(" – ")}`;
    }
    if (layer.kind === "rate") return `${words}: ${network.rateOf(2 * first) || "unknown rate"}`;
    if (layer.kind !== "load") return words;
    const hottest = cables.reduce((one, other) => (this.heat(other, layer) > this.heat(one, layer) ? other : one));
    const load = Math.max(layer.load[2 * hottest], layer.load[2 * hottest + 1]);
    return `${words}: ${cables.length > 1 ? "at most " : ""}${rounded(load)} ${layer.unit}`;
  }

  _drawSwitches(pane, gone, layer) {
    const { network } = this;
    const side = network.scene.side;
    const data = { x: [], y: [], side: [], colour: [], tip: [] };
    const idle = new Set(network.idle);
    for (let number = 0; number < network.switches; number++) {
      const [x, y] = this.place(number);
      data.x.push(x);
      data.y.push(y);
      data.side.push(side);
      const hosts = network.hostsOf[number].length;
      const colour = hosts ? "#CFE3F1" : idle.has(number) ? QUIET : SWITCH;
      data.colour.push(gone.has(`switch ${number}`) ? "#D55E00" : colour);
      data.tip.push(`${network.fabric.switch[number]}${hosts ? `: ${counted(hosts, "host")}` : ""}`);
    }
    this.source("switches", pane).data = data;
    const boxes = { x: [], y: [], width: [], height: [], tip: [] };
    for (const [x, y, width, height, group] of network.scene.boxes) {
      boxes.x.push(x + width / 2);
      boxes.y.push(y + height / 2);
      boxes.width.push(width);
      boxes.height.push(height);
      boxes.tip.push(network.groups.name[group]);
    }
    this.source("boxes", pane).data = boxes;
    const hosts = { x: [], y: [], radius: [], colour: [], tip: [] };
    this._hostPlaces.forEach((place, host) => {
      hosts.x.push(place.x);
      hosts.y.push(place.y);
      hosts.radius.push(place.radius);
      const own = layer.kind === "hosts" ? layer.colour.get(layer.of[host]) || QUIET : HOST;
      hosts.colour.push(gone.has(`switch ${network.fabric.hostSwitch[host]}`) ? QUIET : own);
      const works = network.jobs[host] ? `, job ${network.jobs[host]}` : "";
      hosts.tip.push(network.fabric.host[host] + works);
    });
    this.source("hosts", pane).data = hosts;
  }

  _drawMarks(pane, gone) {
    const data = { x: [], y: [], tip: [] };
    const add = (part, number, words) => {
      const { from, to } = this.network.fabric;
      const ends = (part === "switch" ? [number, number] : [from[number], to[number]]).map(this.place);
      data.x.push((ends[0][0] + ends[1][0]) / 2);
      data.y.push((ends[0][1] + ends[1][1]) / 2);
      data.tip.push(words);
    };
    for (const mark of this.network.marks) if (mark.fault) add(mark.part, mark.number, mark.words);
    for (const part of gone) {
      const [kind, number] = part.split(" ");
      add(kind, Number(number), "dead");
    }
    this.source("marks", pane).data = data;
  }

  /** Frames switches and underlines cables. */
  point(pane, switches, cables, hosts) {
    const data = { x: [], y: [], side: [] };
    for (const number of switches) {
      const [x, y] = this.place(number);
      data.x.push(x);
      data.y.push(y);
      data.side.push(1.25 * this.network.scene.side);
    }
    for (const host of hosts) {
      const { x, y, radius } = this._hostPlaces[host];
      data.x.push(x);
      data.y.push(y);
      data.side.push(2.6 * radius);
    }
    this.source("chosen", pane).data = data;
    const lines = { xs: [], ys: [], width: [] };
    for (const cable of cables) {
      const [xs, ys] = this.line(cable);
      lines.xs.push(xs);
      lines.ys.push(ys);
      lines.width.push(7);
    }
    this.source("chosen-lines", pane).data = lines;
  }

  /** Pixels an inch of the drawing. */
  scale(pane) {
    const { x_range: range, inner_width: width } = this.panes[pane];
    return width / (range.end - range.start);
  }

  /** Writes the names for which there is room now. */
  write(pane) {
    const { scene, fabric } = this.network;
    const scale = this.scale(pane);
    const { x_range: xs, y_range: ys } = this.panes[pane];
    const seen = (x, y) => x > xs.start && x < xs.end && y > ys.start && y < ys.end;
    const data = {
      x: [], y: [], text: [], angle: [], across: [], along: [], colour: [], size: [], style: [],
    };
    const add = (x, y, text, size, more = {}) => {
      const look = { angle: 0, across: "center", along: "top", colour: SWITCH, style: "normal", ...more };
      data.x.push(x);
      data.y.push(y);
      data.text.push(text);
      data.size.push(`${size.toFixed(1)}px`);
      for (const key of ["angle", "across", "along", "colour", "style"]) data[key].push(look[key]);
    };
    for (const label of scene.labels) {
      const size = Math.min((label.size / 72) * scale, LETTERS.most + 1);
      if (size < LETTERS.least) continue;
      add(label.x, label.y, label.text, size, { ...label, style: label.bold ? "bold" : "normal" });
    }
    for (let number = 0; number < this.network.switches; number++) {
      const [x, y] = this.place(number);
      if (!seen(x, y)) continue;
      if (scene.bundled && fabric.short[number] === this.network.groups.name[this.network.groups.of[number]]) continue;
      const room = this._pitch[number] * scale;
      const flat = Math.min(LETTERS.most, (0.95 * room) / (WIDTH_OF_LETTER * fabric.short[number].length));
      // The highest have their cables below, and their names above.
      const above = !scene.bundled && this.network.level[number] === this._top && this._top > 1;
      const below = { along: above ? "bottom" : "top", across: "center" };
      const at = y + (above ? 1 : -1) * (scene.side / 2 + 3 / scale);
      if (flat >= LETTERS.least) add(x, at, fabric.short[number], flat, below);
      else if (room >= LETTERS.least + 2 && !scene.bundled) {
        const tall = { angle: Math.PI / 2, across: above ? "left" : "right", along: "middle" };
        add(x, at, fabric.short[number], Math.min(room - 2, LETTERS.most - 2), tall);
      }
    }
    this._hostPlaces.forEach(({ x, y, radius }, host) => {
      // Its letters fit between two rows of dots, and between two dots of a row.
      const step = (radius / DOT) * scale;
      const size = Math.min(LETTERS.most, 0.3 * step, step / (WIDTH_OF_LETTER * fabric.host[host].length));
      if (size < LETTERS.least || !seen(x, y)) return;
      add(x, y - radius - 1 / scale, fabric.host[host], size, { colour: HOST });
    });
    this.source("texts", pane).data = data;
  }

  /** Shows a part of the drawing, in inches, with equal scales in both directions. */
  show(x, y, width, height) {
    const [{ inner_width: across, inner_height: along }] = this.panes;
    const scale = Math.min(across / width, along / height);
    this._range(x + width / 2, y + height / 2, across / scale / 2, along / scale / 2);
  }

  /** Both panes share their ranges. */
  _range(x, y, wide, high) {
    const [{ x_range: xs, y_range: ys }] = this.panes;
    xs.setv({ start: x - wide, end: x + wide });
    ys.setv({ start: y - high, end: y + high });
  }

  showAll() {
    const { width, height } = this.network.scene;
    this.show(-0.1, -0.05, width + 0.2, height + 0.15);
  }

  showSwitch(number) {
    const [x, y] = this.place(number);
    const around = 14 * this.network.scene.side;
    this.show(x - around / 2, y - around / 2, around, around);
  }

  showHost(host) {
    const { x, y } = this._hostPlaces[host];
    const around = 3 * this.network.scene.side;
    this.show(x - around / 2, y - around / 2, around, around);
  }

  showGroup(group) {
    const box = this.network.scene.boxes.find((one) => one[4] === group);
    if (box) this.show(box[0] - 0.2, box[1] - 0.2, box[2] + 0.4, box[3] + 0.4);
  }

  /** Shows more or less around the middle, or what lies beside it, as shares of what is seen. */
  step(factor, right = 0, up = 0) {
    const [{ x_range: xs, y_range: ys }] = this.panes;
    const [wide, high] = [xs.end - xs.start, ys.end - ys.start];
    const [x, y] = [(xs.start + xs.end) / 2 + right * wide, (ys.start + ys.end) / 2 + up * high];
    this._range(x, y, (wide / 2) * factor, (high / 2) * factor);
  }
}
