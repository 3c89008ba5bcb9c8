// Fills the drawing: what lies where, in which colour, and as large as there is room for.
const PLAIN = "#8C9BA8", NOTHING = "#F0F0F0", QUIET = "#D5D5D5", HOST = "#0072B2", SWITCH = "#222222";
const HUES = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#999999", "#F0E442"];
const LETTERS = { least: 7, most: 13 }; // pixels
const SHARED = "#111111"; // a channel that several jobs use
const MISSING = { colour: "#B8BEC4", dash: "dashed", rank: -1 };
const WIDTH_OF_LETTER = 0.65;
const MOST_SPREAD = 400; // changed cables that are drawn one by one
// What is pointed out, by kind: how it is drawn, and how the key calls it.
const SIGNS = {
  fault: { sign: "x", colour: "#D55E00", words: "✕ fault or dead" },
  missing: { sign: "inverted_triangle", colour: "#D55E00", words: "▽ lacks cables" },
  victim: { sign: "star", colour: "#CC79A7", words: "★ messages lose most" },
  added: { sign: "cross", colour: "#882255", words: "+ added" },
  removed: { sign: "dash", colour: "#882255", words: "– removed" },
  changed: { sign: "diamond", colour: "#882255", words: "◇ moved or changed" },
};
const signOf = (kind) => (kind in SIGNS ? kind : "changed");

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
    this._places = new Map();
    this.views = []; // of every pane
    this.opened = new Set();
    [this.lineAt, this.spreadAt, this.hostAt] = [[], [], []]; // what is drawn, by pane
    this.spread = []; // cables that are drawn one by one, whatever is open
    this.panes = row.children;
  }

  source(kind, pane) {
    return this.row.document.get_model_by_name(`${kind}-${pane}`);
  }

  /** Where the parts of a state stand. */
  placesOf(view) {
    const drawing = view.drawing ?? this.network.drawing;
    if (!this._places.has(drawing)) {
      const hosts = Array.from({ length: this.network.switches }, () => []);
      this.network.fabric.hostSwitch.forEach((number, host) => {
        if (!view.drawing || !view.lacks.has(`host ${host}`)) hosts[number].push(host);
      });
      this._places.set(drawing, new Places(this.network, drawing, hosts));
    }
    return this._places.get(drawing);
  }

  places(pane) {
    return this.placesOf(this.views[pane] ?? this.network.views[0]);
  }

  /** Draws a view into a pane. */
  draw(pane, view, layer) {
    this.views[pane] = view;
    const gone = new Set(view.gone.map((part) => part.join(" ")));
    const dead = (cable) =>
      gone.has(`cable ${cable}`) ||
      gone.has(`switch ${this.network.fabric.from[cable]}`) ||
      gone.has(`switch ${this.network.fabric.to[cable]}`);
    this._drawLines(pane, layer, dead);
    this._drawSpread(pane, layer, dead);
    this._drawSwitches(pane, gone, layer);
    this._drawHosts(pane, gone, layer);
    this._drawMarks(pane, gone);
    this.write(pane);
  }

  _drawLines(pane, layer, dead) {
    const { scene, cablesOfLine } = this.places(pane);
    const most = Math.max(1, ...cablesOfLine.map((cables) => cables.length));
    const thin = Math.min(1, Math.sqrt(60 / Math.max(scene.lines.length, 1)));
    const single = Math.min(Math.max(14 / Math.sqrt(Math.max(scene.lines.length, 1)), 0.4), 1.3);
    const width = (cables) => scene.bundled
      ? Math.max(1, 10 * cables / most) * thin
      : 1.7 * single * Math.sqrt(cables);
    const open = (cables) => scene.bundled && cables.some((cable) => this._isOpen(cable, pane));
    const each = cablesOfLine
      .map((cables, line) => [cables, scene.lines[line].map((values) => values.map((value) => value ?? NaN))])
      .filter(([cables]) => !open(cables));
    this.lineAt[pane] = this._drawEach("lines", pane, each, layer, dead, width);
  }

  /** Pairs of switches whose cables are drawn one by one: of open groups, what is chosen or has changed. */
  _drawSpread(pane, layer, dead) {
    const { network } = this;
    const places = this.places(pane);
    const pairs = new Map();
    if (places.scene.bundled) {
      const add = (cable) => {
        const cables = network.parallel(cable, this.views[pane]);
        pairs.set(cables[0], cables);
      };
      const changed = network.marks.filter(({ kind, part }) => part === "cable" && kind !== "fault");
      changed.slice(0, MOST_SPREAD).forEach(({ number }) => add(number));
      this.spread.forEach(add);
      if (this.opened.size) {
        for (let cable = 0; cable < network.cables; cable++) if (this._isOpen(cable, pane)) add(cable);
      }
    }
    const each = [...pairs.values()].map((cables) => [cables, places.line(cables[0])]);
    this.spreadAt[pane] = this._drawEach("cables", pane, each, layer, dead, (cables) => 1.2 * Math.sqrt(cables));
  }

  /** Draws lines that stand for cables, the hottest on top; returns the cables of each in that order. */
  _drawEach(kind, pane, each, layer, dead, width) {
    const { lacks } = this.views[pane];
    const looks = each.map(([cables, line]) => {
      const there = lacks.size ? cables.filter((cable) => !lacks.has(`cable ${cable}`)) : cables;
      return [there.length ? this._colourOf(there, layer, dead) : MISSING, line, cables, there];
    });
    looks.sort(([one], [other]) => one.rank - other.rank);
    const data = { xs: [], ys: [], colour: [], width: [], dash: [], tip: [] };
    for (const [look, [xs, ys], cables, there] of looks) {
      data.xs.push(xs);
      data.ys.push(ys);
      data.colour.push(look.colour);
      data.dash.push(look.dash);
      data.width.push(width(there.length || cables.length));
      data.tip.push(there.length ? this._tipOf(there, layer, pane) : `${this._tipOf(cables, {}, pane)}: not in this state`);
    }
    this.source(kind, pane).data = data;
    return looks.map(([, , cables, there]) => (there.length ? there : cables));
  }

  _isOpen(cable, pane) {
    if (!this.opened.size) return false;
    const { of } = this.places(pane).groups;
    return this.opened.has(of[this.network.fabric.from[cable]]) || this.opened.has(of[this.network.fabric.to[cable]]);
  }

  _colourOf(cables, layer, dead) {
    const left = cables.filter((cable) => !dead(cable));
    if (!left.length) return { colour: "#D55E00", dash: "dashed", rank: Infinity };
    if (layer.kind === "rate") {
      const rate = Math.max(...left.map((cable) => layer.rank[layer.of[cable]]));
      return { colour: HUES[rate % HUES.length], dash: "solid", rank: rate };
    }
    const jobs = this._jobsOf(left, layer);
    if (jobs) {
      if (!jobs.length) return { colour: QUIET, dash: "solid", rank: 0 };
      const several = jobs.length > 1;
      return { colour: several ? SHARED : layer.colour.get(jobs[0][0]), dash: "solid", rank: several ? 2 : 1 };
    }
    if (layer.kind !== "load") return { colour: PLAIN, dash: "solid", rank: 0 };
    const heat = Math.max(...left.map((cable) => this.heat(cable, layer)));
    return { colour: heat ? this.colourOf(heat, layer) : QUIET, dash: "solid", rank: heat };
  }

  /** The jobs on the channel that most of them share, of those where the most messages are; undefined unless jobs are shown. */
  _jobsOf(cables, layer) {
    const { jobs, jobsOn } = this.network;
    if (layer.kind !== "hosts" || layer.of !== jobs || !jobsOn.size) return undefined;
    const heat = (on) => on.reduce((sum, [, one]) => sum + one, 0);
    return cables.flatMap((cable) => [2 * cable, 2 * cable + 1]).map((channel) => jobsOn.get(channel) ?? [])
      .reduce((most, on) => (on.length - most.length || heat(on) - heat(most)) > 0 ? on : most, []);
  }

  heat(cable, layer) {
    return Math.max(layer.heat[2 * cable], layer.heat[2 * cable + 1]);
  }

  colourOf(heat, layer) {
    const place = Math.round((heat / layer.most) * (this.colours.length - 1));
    return this.colours[Math.min(Math.max(place, 0), this.colours.length - 1)];
  }

  _tipOf(cables, layer, pane) {
    const { network } = this;
    const first = cables[0];
    let words = network.cableName(first);
    if (cables.length > 1) {
      const { of } = this.places(pane).groups;
      const ends = [network.fabric.from[first], network.fabric.to[first]];
      const pair = network.parallel(first, this.views[pane]).length >= cables.length;
      const names = ends.map((end) => (pair || of[end] < 0 ? network.fabric.short[end] : network.groupName[of[end]]));
      words = `${counted(cables.length, "cable")}: ${names.join(" – ")}`;
    }
    if (layer.kind === "rate") return `${words}: ${network.fabric.rates[layer.of[first]] || "unknown rate"}`;
    const jobs = this._jobsOf(cables, layer);
    if (jobs) return `${words}: ${jobs.map(([job]) => `job ${job}`).join(", ") || "no job"}`;
    if (layer.kind !== "load") return words;
    const hottest = cables.reduce((one, other) => (this.heat(other, layer) > this.heat(one, layer) ? other : one));
    const load = Math.max(layer.load[2 * hottest], layer.load[2 * hottest + 1]);
    return `${words}: ${cables.length > 1 ? "at most " : ""}${rounded(load)} ${layer.unit}`;
  }

  _drawSwitches(pane, gone, layer) {
    const { network } = this;
    const { scene, idle, hostsOf, of } = this.places(pane);
    const { lacks } = this.views[pane];
    const data = { x: [], y: [], side: [], colour: [], tip: [] };
    for (let number = 0; number < network.switches; number++) {
      const [x, y] = this.place(number, pane);
      data.x.push(x);
      data.y.push(y);
      data.side.push(scene.side);
      const missing = lacks.has(`switch ${number}`);
      const hosts = hostsOf[number].filter((host) => !lacks.has(`host ${host}`)).length;
      const colour = hosts ? "#CFE3F1" : idle.has(number) ? QUIET : SWITCH;
      data.colour.push(gone.has(`switch ${number}`) ? "#D55E00" : missing ? NOTHING : colour);
      const more = missing ? ": not in this state" : hosts ? `: ${counted(hosts, "host")}` : "";
      data.tip.push(network.fabric.switch[number] + more);
    }
    this.source("switches", pane).data = data;
    const boxes = { x: [], y: [], width: [], height: [], tip: [] };
    for (const [x, y, width, height, group] of scene.boxes) {
      boxes.x.push(x + width / 2);
      boxes.y.push(y + height / 2);
      boxes.width.push(width);
      boxes.height.push(height);
      boxes.tip.push(network.groupName[group]);
    }
    this.source("boxes", pane).data = boxes;
  }

  _drawHosts(pane, gone, layer) {
    const { network } = this;
    const { lacks } = this.views[pane];
    const data = { x: [], y: [], radius: [], colour: [], tip: [] };
    this.hostAt[pane] = [];
    const { hosts } = this.places(pane);
    for (let host = 0; host < network.hosts; host++) {
      const place = hosts.get(host);
      if (!place || lacks.has(`host ${host}`)) continue;
      this.hostAt[pane].push(host);
      data.x.push(place.x);
      data.y.push(place.y);
      data.radius.push(place.radius);
      const own = layer.kind === "hosts" ? layer.colour.get(layer.of[host]) || QUIET : HOST;
      data.colour.push(gone.has(`switch ${network.fabric.hostSwitch[host]}`) ? QUIET : own);
      const works = network.jobs[host] ? `, job ${network.jobs[host]}` : "";
      data.tip.push(network.fabric.host[host] + works);
    }
    this.source("hosts", pane).data = data;
  }

  _drawMarks(pane, gone) {
    const data = { x: [], y: [], sign: [], colour: [], tip: [] };
    const add = (kind, part, number, words) => {
      if (!this.isThere(part, number, pane)) return;
      const [x, y] = this.places(pane).middle(part, number);
      data.x.push(x);
      data.y.push(y);
      data.sign.push(SIGNS[kind].sign);
      data.colour.push(SIGNS[kind].colour);
      data.tip.push(words);
    };
    for (const { kind, part, number, words } of this.network.marks) add(signOf(kind), part, number, words);
    for (const part of gone) {
      const [kind, number] = part.split(" ");
      add("fault", kind, Number(number), "dead");
    }
    this.source("marks", pane).data = data;
  }

  isThere(part, number, pane) {
    return !this.views[pane].lacks.has(`${part} ${number}`);
  }

  place(number, pane = 0) {
    return this.places(pane).of(number);
  }

  /** Frames switches and underlines cables, as far as they are there. */
  point(pane, switches, cables, hosts) {
    const places = this.places(pane);
    const { side } = places.scene;
    const data = { x: [], y: [], side: [] };
    const frame = (x, y, size) => {
      data.x.push(x);
      data.y.push(y);
      data.side.push(size);
    };
    for (const number of switches) {
      if (this.isThere("switch", number, pane)) frame(...places.of(number), 1.25 * side);
    }
    for (const host of hosts) {
      if (!this.isThere("host", host, pane)) continue;
      const { x, y, radius } = places.hosts.get(host);
      frame(x, y, 2.6 * radius);
    }
    this.source("chosen", pane).data = data;
    const lines = { xs: [], ys: [], width: [] };
    for (const cable of cables) {
      if (!this.isThere("cable", cable, pane)) continue;
      const [xs, ys] = places.line(cable);
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
    const { fabric } = this.network;
    const { scene, level, top, pitch, groups, hosts } = this.places(pane);
    const scale = this.scale(pane);
    const { x_range: xs, y_range: ys } = this.panes[pane];
    const seen = (x, y) => x > xs.start && x < xs.end && y > ys.start && y < ys.end;
    const data = {
      x: [], y: [], text: [], angle: [], across: [], along: [], colour: [], size: [], style: [],
    };
    const written = [];
    /** Writes a text unless it would cover another one. */
    const add = (x, y, text, size, more = {}) => {
      const look = { angle: 0, across: "center", along: "top", colour: SWITCH, style: "normal", ...more };
      const box = extent(x * scale, y * scale, text, size, look);
      if (written.some((one) => one.left < box.right && box.left < one.right && one.low < box.high && box.low < one.high)) return;
      written.push(box);
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
      const [x, y] = this.place(number, pane);
      if (!seen(x, y)) continue;
      if (scene.bundled && fabric.short[number] === this.network.groupName[groups.of[number]]) continue;
      const room = pitch[number] * scale;
      const flat = Math.min(LETTERS.most, (0.95 * room) / (WIDTH_OF_LETTER * fabric.short[number].length));
      // In rows, names that are too wide stand upright; the highest row has its cables below, and
      // its names above.
      const inRows = !scene.bundled && top > 1;
      const above = inRows && level[number] === top;
      const below = { along: above ? "bottom" : "top", across: "center" };
      const at = y + (above ? 1 : -1) * (scene.side / 2 + 3 / scale);
      if (flat >= LETTERS.least) add(x, at, fabric.short[number], flat, below);
      else if (room >= LETTERS.least + 2 && inRows) {
        const tall = { angle: Math.PI / 2, across: above ? "left" : "right", along: "middle" };
        add(x, at, fabric.short[number], Math.min(room - 2, LETTERS.most - 2), tall);
      }
    }
    for (const host of this.hostAt[pane]) {
      const { x, y, radius } = hosts.get(host);
      // Its letters fit between two rows of dots, and between two dots of a row.
      const step = (radius / DOT) * scale;
      const size = Math.min(LETTERS.most, 0.3 * step, step / (WIDTH_OF_LETTER * fabric.host[host].length));
      if (size < LETTERS.least || !seen(x, y)) continue;
      add(x, y - radius - 1 / scale, fabric.host[host], size, { colour: HOST });
    }
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
    const scenes = [0, 1].filter((pane) => this.panes[pane].visible).map((pane) => this.places(pane).scene);
    const [width, height] = ["width", "height"].map((side) => Math.max(...scenes.map((scene) => scene[side])));
    this.show(-0.1, -0.05, width + 0.2, height + 0.15);
  }

  /** The pane that shows a part, the first where both do. */
  _paneOf(part, number) {
    return this.panes[1].visible && !this.isThere(part, number, 0) ? 1 : 0;
  }

  showSwitch(number) {
    const pane = this._paneOf("switch", number);
    const [x, y] = this.place(number, pane);
    const around = 14 * this.places(pane).scene.side;
    this.show(x - around / 2, y - around / 2, around, around);
  }

  showHost(host) {
    const places = this.places(this._paneOf("host", host));
    const { x, y } = places.hosts.get(host);
    const around = 3 * places.scene.side;
    this.show(x - around / 2, y - around / 2, around, around);
  }

  showGroup(group) {
    const boxes = [0, 1].flatMap((pane) => this.places(pane).scene.boxes);
    const box = boxes.find((one) => one[4] === group);
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
