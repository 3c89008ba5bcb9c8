// Ties the parts of the page together: what is chosen, seen and searched.

const PLAIN_LAYER = "cables alone", RATE_LAYER = "link rates";

class Explorer {
  constructor(network, row, colours) {
    this.network = network;
    this.canvas = new Canvas(network, row, colours);
    this.state = { view: 0, beside: -1, layer: "", chosen: null, from: null, to: null };
    this.history = [];
    this.at = (id) => document.getElementById(id);
    this.panel = new Panel(this, this.at("panel"));
    this.layers = this._layerNames();
    // Who asks for jobs sees them first, unless something was counted or simulated.
    const [first] = this.layers;
    this.state.layer = network.jobs.length && first === "all routes" ? "jobs" : first;
    this.state.beside = network.beside ?? -1;
    network.look(this.view);
  }

  get view() {
    return this.network.views[this.state.view];
  }

  /** The states that are shown, left first. */
  get shown() {
    const beside = this.network.views[this.state.beside];
    return beside && beside !== this.view ? [this.view, beside] : [this.view];
  }

  get layer() {
    return this._layerOf(this.view);
  }

  _layerNames() {
    const names = new Set(this.network.views.flatMap((view) => Object.keys(view.layers)));
    // First what all states have, so that they can be compared.
    const having = (name) => this.network.views.filter((view) => name in view.layers).length;
    const order = [...names].sort((one, other) => having(other) - having(one));
    return [...order, ...Object.keys(this.network.hostsBy), RATE_LAYER, PLAIN_LAYER];
  }

  /** What a view draws, in one scale for all views. */
  _layerOf(view) {
    const name = this.state.layer;
    const { rates } = this.network.fabric;
    if (name === RATE_LAYER) {
      const { cables, views } = this.network;
      const rate = [...new Set(views.map((one) => one.rate))].flatMap((one) => [...one.slice(0, cables)]);
      const used = [...new Set(rate)].sort((one, other) => rates[one].localeCompare(rates[other], "en", { numeric: true }));
      return { kind: "rate", of: view.rate, used, rank: Object.fromEntries(used.map((one, place) => [one, place])) };
    }
    const of = this.network.hostsBy[name];
    if (of) {
      const order = (one, other) => one.localeCompare(other, "en", { numeric: true });
      const names = [...new Set(of.filter(Boolean))].sort(order);
      return { kind: "hosts", of, names, colour: new Map(names.map((one, at) => [one, HUES[at % HUES.length]])) };
    }
    const layer = view.layers[name];
    if (!layer) return { kind: "plain" };
    const all = this.network.views.map((one) => one.layers[name]).filter(Boolean);
    const between = 2 * this.network.cables;
    let most = 0;
    for (const one of all) {
      let [sum, top] = [0, 0];
      for (let channel = 0; channel < between; channel++) {
        sum += one.heat[channel];
        top = Math.max(top, one.heat[channel]);
      }
      // Even loads have the colour in the middle: only what exceeds twice the mean darkens it.
      most = Math.max(most, top, between ? (2 * sum) / between : 0);
    }
    return { kind: "load", ...layer, most: most || 1 };
  }

  draw() {
    const views = [this.view, this.network.views[this.state.beside] ?? this.view];
    views.forEach((view, pane) => {
      if (this.canvas.panes[pane].visible) this.canvas.draw(pane, view, this._layerOf(view));
    });
    this._point();
    this._legend();
    const names = this.canvas.panes[1].visible ? views.map((view) => element("span", {}, view.name)) : [];
    this.at("captions").replaceChildren(...names);
  }

  /** Switches, cables and hosts of what is chosen, and what they were or became elsewhere. */
  _parts() {
    const { twinOf } = this.network;
    const both = (part, numbers) => [...new Set([...numbers,
      ...numbers.map((number) => twinOf.get(`${part} ${number}`)).filter((twin) => twin !== undefined)])];
    const { switches, cables, hosts } = this._ownParts();
    return { switches, cables: both("cable", cables), hosts: both("host", hosts) };
  }

  _ownParts() {
    const { chosen, from, to } = this.state;
    const { network } = this;
    if (from !== null && to !== null) {
      const [near, far] = [from, to].map((host) => network.here("host", host));
      const channels = [[near, far], [far, near]].flatMap(([one, other]) => this.channelsBetween(one, other).channels);
      const cables = [...new Set(channels.filter((one) => one < 2 * network.cables).map((one) => one >> 1))];
      const { hostSwitch, from: lower, to: upper } = network.fabric;
      const switches = new Set([hostSwitch[near], hostSwitch[far], ...cables.flatMap((one) => [lower[one], upper[one]])]);
      return { switches: [...switches], cables, hosts: [near, far] };
    }
    const none = { switches: [], cables: [], hosts: [] };
    switch (chosen?.kind) {
      case "cable": return { ...none, cables: [chosen.number] };
      case "line": return { ...none, cables: chosen.number };
      case "switch": return { ...none, switches: [chosen.number], cables: network.cablesOf[chosen.number] };
      case "host": {
        const host = network.here("host", chosen.number);
        return { ...none, hosts: [host], switches: [network.fabric.hostSwitch[host]] };
      }
      case "server": return { ...none, hosts: network.servers.flatMap((server, host) => (server === chosen.number ? [host] : [])) };
      case "job": return { ...none, hosts: network.jobs.flatMap((job, host) => (job === chosen.number ? [host] : [])) };
      case "group": return { ...none, switches: network.membersOf(chosen.number) };
      default: return none;
    }
  }

  _point() {
    this.shown.forEach((view, pane) => this.network.under(view, () => {
      const { switches, cables, hosts } = this._parts();
      this.canvas.point(pane, switches, this.state.chosen?.kind === "switch" ? [] : cables, hosts);
    }));
  }

  channelsBetween(one, other) {
    const { network } = this;
    return network.followsTables ? network.route(one, other) : network.shortestWays(one, other);
  }

  /** Chooses a part, or nothing, and tells of it. */
  choose(chosen, remember = true) {
    if (remember) this.history.push({ chosen: this.state.chosen, from: this.state.from, to: this.state.to });
    Object.assign(this.state, { chosen, from: null, to: null });
    this._tell();
  }

  back() {
    const last = this.history.pop();
    Object.assign(this.state, last ?? { chosen: null, from: null, to: null });
    this._tell();
  }

  /** One end of a route; the other one is asked for by the search. */
  routeEnd(end, host) {
    this.history.push({ chosen: this.state.chosen, from: this.state.from, to: this.state.to });
    this.state[end] = host;
    this._tell();
    if (this.state.from === null || this.state.to === null) {
      const word = end === "from" ? "to" : "from";
      this.panel.place.prepend(element("p", { class: "told" },
        `Route ${end} ${this.network.fabric.host[host]}: search or click the host that it goes ${word}.`));
      this.at("search").focus();
    }
  }

  _tell() {
    const { chosen, from, to } = this.state;
    const { panel } = this;
    this.at("back").disabled = !this.history.length;
    const cables = this.shown.flatMap((view) => this.network.under(view, () => this._parts().cables));
    this.canvas.spread = chosen?.kind === "group" ? [] : [...new Set(cables)];
    if (from !== null && to !== null && from !== to) panel.show(panel.route(from, to));
    else if (!chosen) panel.show(panel.overview());
    else panel.show(panel[chosen.kind](chosen.number));
    this._remember();
    this.draw();
  }

  /** The address names what is shown, so that it can be sent to somebody else. */
  _remember() {
    const { chosen, from, to } = this.state;
    const words = from !== null && to !== null ? `route=${from},${to}`
      : chosen && chosen.kind !== "line" ? `${chosen.kind}=${chosen.number}` : "";
    history.replaceState(null, "", words ? `#${encodeURIComponent(words)}` : " ");
  }

  recall() {
    const [kind, number] = decodeURIComponent(location.hash.slice(1)).split("=");
    const limit = { cable: this.network.cables, switch: this.network.switches, host: this.network.hosts };
    if (kind === "route") {
      const [from, to] = number.split(",").map(Number);
      if (from < this.network.hosts && to < this.network.hosts) Object.assign(this.state, { from, to });
    } else if (Number(number) < limit[kind]) {
      this.state.chosen = { kind, number: Number(number) };
    }
    this._tell();
  }

  see(view, beside = this.state.beside) {
    Object.assign(this.state, { view, beside });
    this.network.look(this.view);
    this.at("view").value = view;
    this.at("beside").value = beside;
    this.canvas.panes[1].visible = beside >= 0;
    this._tell();
  }

  open(group) {
    const { opened } = this.canvas;
    if (!opened.delete(group)) {
      opened.add(group);
      this.canvas.showGroup(group);
    }
    this._tell();
  }

  /** Whether one end of a route is known. */
  get awaitsHost() {
    return (this.state.from === null) !== (this.state.to === null);
  }

  /** Shows where a part is, and tells of it. */
  find({ kind, number }) {
    if (kind === "host" && this.awaitsHost) {
      this.routeEnd(this.state.from === null ? "from" : "to", number);
      this.canvas.showAll();
      return;
    }
    if (kind === "switch") this.canvas.showSwitch(number);
    if (kind === "host") this.canvas.showHost(number);
    if (kind === "group") this.canvas.showGroup(number);
    if (kind === "job" || kind === "server") this.canvas.showAll();
    this.choose({ kind, number });
  }

  _legend() {
    const place = this.at("legend");
    const { layer } = this;
    const sign = (colour, words) =>
      element("span", { class: "sign" }, element("i", { style: `background:${colour}` }), words);
    if (layer.kind === "load") {
      const stops = this.canvas.colours.filter((_, at) => at % 7 === 0).join(",");
      const unit = layer.port ? `${layer.unit} over rate, as at ${layer.port}` : layer.unit;
      place.replaceChildren("0 ", element("i", { class: "scale", style: `background:linear-gradient(90deg,${stops})` }),
        ` ${rounded(layer.most)} ${unit}, hottest channel of a line `, sign(QUIET, "nothing"));
    } else if (layer.kind === "rate") {
      place.replaceChildren(...layer.used.map((rate, at) => sign(HUES[at % HUES.length], this.network.fabric.rates[rate] || "unknown rate")));
    } else if (layer.kind === "hosts") {
      place.replaceChildren(...layer.names.slice(0, 20).map((one) => sign(layer.colour.get(one), one)));
      const { jobs, jobsOn } = this.network;
      if (layer.of === jobs && jobsOn.size) place.append(sign(SHARED, "cable of several jobs"), sign(QUIET, "of none"));
    } else place.replaceChildren(sign(PLAIN, "cables"));
    place.append(sign("#CFE3F1", "switch with hosts"), sign(SWITCH, "switch"));
    const used = new Set(["fault", ...this.network.marks.map(({ kind }) => signOf(kind))]);
    for (const kind of Object.keys(SIGNS)) {
      if (used.has(kind)) place.append(element("span", { style: `color:${SIGNS[kind].colour}` }, SIGNS[kind].words));
    }
  }
}

/** What was clicked: of parts above each other the smallest. */
function listen(explorer) {
  const { canvas } = explorer;
  let waiting = false;
  const kinds = {
    hosts: (at, pane) => ({ kind: "host", number: canvas.hostAt[pane][at] }),
    switches: (at) => ({ kind: "switch", number: at }),
    cables: (at, pane) => lineOrCable(canvas.spreadAt[pane][at]),
    lines: (at, pane) => lineOrCable(canvas.lineAt[pane][at]),
    boxes: (at, pane) => ({ kind: "group", number: canvas.places(pane).scene.boxes[at][4] }),
  };
  const lineOrCable = (cables) =>
    cables.length === 1 ? { kind: "cable", number: cables[0] } : { kind: "line", number: cables };
  const answer = (pane) => {
    waiting = false;
    let chosen = null;
    for (const [kind, part] of Object.entries(kinds)) {
      const source = canvas.source(kind, pane);
      const hit = source.selected.indices;
      // The last one is drawn on top.
      if (hit.length && !chosen) chosen = part(Math.max(...hit), pane);
      if (hit.length) source.selected.indices = [];
    }
    if (!chosen) return;
    if (chosen.kind === "host" && explorer.awaitsHost) explorer.find(chosen);
    else explorer.choose(chosen);
  };
  for (const pane of [0, 1]) {
    for (const kind of Object.keys(kinds)) {
      canvas.source(kind, pane).selected.properties.indices.change.connect(() => {
        if (waiting) return;
        waiting = true;
        setTimeout(() => answer(pane), 0);
      });
    }
  }
}

function wire(explorer) {
  const { at, canvas, network, state } = explorer;
  const options = (place, names, value) => {
    place.replaceChildren(...names.map(([number, name]) => element("option", { value: number }, name)));
    place.value = value;
    place.parentElement.hidden = names.length < 2;
  };
  options(at("layer"), explorer.layers.map((name) => [name, name]), state.layer);
  options(at("view"), network.views.map((view, number) => [number, view.name]), 0);
  options(at("beside"), [[-1, "nothing"], ...network.views.map((view, number) => [number, view.name])], state.beside);
  at("beside").parentElement.hidden = network.views.length < 2;
  at("layer").addEventListener("change", (event) => {
    state.layer = event.target.value;
    explorer._tell();
  });
  at("view").addEventListener("change", (event) => explorer.see(Number(event.target.value)));
  at("beside").addEventListener("change", (event) => explorer.see(state.view, Number(event.target.value)));
  at("fit").addEventListener("click", () => canvas.showAll());
  at("back").addEventListener("click", () => explorer.back());
  searchBox(explorer);
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    if (event.key === "Escape") {
      at("search").value = "";
      at("found").replaceChildren();
      explorer.back();
    }
    if (["INPUT", "SELECT"].includes(event.target.tagName)) return;
    const keys = {
      "/": () => at("search").focus(), f: () => canvas.showAll(),
      "+": () => canvas.step(0.8), "=": () => canvas.step(0.8), "-": () => canvas.step(1.25),
      ArrowLeft: () => canvas.step(1, -0.15), ArrowRight: () => canvas.step(1, 0.15),
      ArrowUp: () => canvas.step(1, 0, 0.15), ArrowDown: () => canvas.step(1, 0, -0.15),
    };
    if (event.key in keys) {
      keys[event.key]();
      event.preventDefault();
    }
  });
}

async function explore() {
  const network = new Network(await unpack(document.getElementById("network").textContent.trim()));
  const { item, colours } = JSON.parse(document.getElementById("drawn").textContent);
  const views = await Bokeh.embed.embed_item(item, "drawing");
  const [row] = views.document?.roots() ?? [...views.roots][0].model.document.roots();
  const explorer = new Explorer(network, row, colours);
  const [first, second] = row.children;
  second.visible = explorer.state.beside >= 0;
  const sized = () => first.inner_width > 0;
  while (!sized()) await new Promise((resolve) => setTimeout(resolve, 20));
  wire(explorer);
  listen(explorer);
  let later;
  for (const range of [first.x_range, first.y_range]) {
    range.change.connect(() => {
      clearTimeout(later);
      later = setTimeout(() => row.children.forEach((pane, number) => pane.visible && explorer.canvas.write(number)), 60);
    });
  }
  first.properties.inner_width.change.connect(() => explorer.canvas.showAll());
  explorer.recall();
  explorer.canvas.showAll();
  window.explorer = explorer;
  document.body.dataset.ready = "";
}

explore();
