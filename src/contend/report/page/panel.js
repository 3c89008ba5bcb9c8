// What the page tells of a part that was chosen. All text is set as text: names may hold anything.

const MOST_ROWS = 200;

const element = (tag, attributes = {}, ...children) => {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") made.addEventListener(name, value);
    else if (value !== undefined) made.setAttribute(name, value);
  }
  made.append(...children.filter((child) => child !== undefined && child !== ""));
  return made;
};

class Panel {
  /** `explorer` has the state, and does what links and buttons ask for. */
  constructor(explorer, place) {
    this.explorer = explorer;
    this.network = explorer.network;
    this.place = place;
  }

  show(...children) {
    this.place.replaceChildren(...children.flat().filter((child) => child !== undefined));
    this.place.scrollTop = 0;
  }

  link(kind, number, words) {
    const go = () => this.explorer.choose({ kind, number });
    return element("button", { class: "link", type: "button", click: go }, words);
  }

  switchLink(number) {
    return this.link("switch", number, this.network.fabric.switch[number]);
  }

  hostLink(host) {
    return this.link("host", host, this.network.fabric.host[host]);
  }

  channelLink(channel) {
    if (channel < 2 * this.network.cables) {
      return this.link("cable", channel >> 1, this.network.channelName(channel));
    }
    const host = (channel - 2 * this.network.cables) % this.network.hosts;
    return this.link("host", host, this.network.channelName(channel));
  }

  facts(rows) {
    const told = rows.filter(([, value]) => value !== undefined && value !== "");
    return element("dl", {}, ...told.flatMap(([name, value]) => [
      element("dt", {}, name), element("dd", {}, ...[value].flat()),
    ]));
  }

  table(caption, heads, rows) {
    const cell = (value) => {
      const right = typeof value === "number";
      return element("td", right ? { class: "number" } : {}, right ? rounded(value) : value);
    };
    const right = (at) => rows.length && typeof rows[0][at] === "number";
    const made = element("table", {},
      element("caption", {}, caption),
      element("thead", {}, element("tr", {}, ...heads.map((head, at) =>
        element("th", right(at) ? { class: "number" } : {}, head)))),
      element("tbody", {}, ...rows.slice(0, MOST_ROWS).map((row) =>
        element("tr", {}, ...row.map(cell)))));
    if (rows.length > MOST_ROWS) {
      made.append(element("tfoot", {}, element("tr", {}, element("td", { colspan: heads.length },
        `and ${counted(rows.length - MOST_ROWS, "other")}`))));
    }
    sortable(made);
    return made;
  }

  /** The cost of a death, and a button that shows it where it was computed. */
  death(kind, number) {
    const words = this.network.costOf.get(`${kind} ${number}`);
    const view = this.network.views.findIndex((one) =>
      one.gone.length === 1 && one.gone[0][0] === kind && one.gone[0][1] === number);
    const { explorer } = this;
    const button = view < 0 ? undefined : explorer.state.view === view
      ? element("button", { type: "button", click: () => explorer.see(0) }, "Bring it back")
      : element("button", { type: "button", click: () => explorer.see(view) }, "Let it die");
    return [words || button ? ["If it dies", [words || "", " ", button || ""]] : ["", ""]];
  }

  faults(part, number) {
    const words = this.network.marks.filter((mark) => mark.part === part && mark.number === number);
    return [["Note", words.map((mark) => mark.words).join("; ")]];
  }

  /** What both channels of a cable carry, in every layer. */
  loads(cable) {
    const layers = Object.entries(this.explorer.view.layers);
    return layers.flatMap(([name, layer]) => [0, 1].map((back) => [
      this.network.channelName(2 * cable + back),
      name.endsWith(layer.unit) ? name : `${name}, ${layer.unit}`,
      layer.load[2 * cable + back],
      ...(layer.port ? [layer.heat[2 * cable + back]] : []),
    ]));
  }

  cable(cable) {
    const { fabric } = this.network;
    const others = this.network.parallel(cable).filter((one) => one !== cable);
    const [near, far] = [fabric.from[cable], fabric.to[cable]];
    const layers = Object.entries(this.explorer.view.layers);
    const mixed = layers.some(([, layer]) => layer.port);
    const loads = this.loads(cable);
    return [
      element("h2", {}, this.network.cableName(cable)),
      this.facts([
        ["Cable", [this.switchLink(near), ` port ${fabric.fromPort[cable]}`, element("br"),
          this.switchLink(far), ` port ${fabric.toPort[cable]}`]],
        ["Rate", this.network.rateOf(2 * cable) || "unknown"],
        ["Option", `--without "${fabric.switch[near]}:${fabric.fromPort[cable]}"`],
        ...this.death("cable", cable),
        ...this.faults("cable", cable),
      ]),
      loads.length ? this.table("What it carries",
        ["direction", "counted", "load", ...(mixed ? [`as at ${layers[0][1].port}`] : [])], loads) : undefined,
      ...this.usersOf(cable),
      others.length ? this.table(`${counted(others.length, "other cable")} between these switches`,
        ["cable"], others.map((one) => [this.link("cable", one, this.network.cableName(one))])) : undefined,
    ];
  }

  usersOf(cable) {
    if (!this.network.followsTables) {
      return [element("p", { class: "quiet" }, `${this.network.tables.words}: who uses it is not told here.`)];
    }
    return [0, 1].flatMap((back) => {
      const channel = 2 * cable + back;
      const { routes, targets, sources } = this.network.users(channel);
      const name = this.network.channelName(channel);
      if (!routes) return [element("p", { class: "quiet" }, `No route uses ${name}.`)];
      const words = `${routes.toLocaleString("en")} routes: ` +
        `to ${counted(targets.length, "host")}, from hosts on ${counted(sources.length, "leaf switch")}`;
      return [element("details", {},
        element("summary", {}, element("b", {}, name), ` – ${words}`),
        this.table("Where they lead", ["host", "sources"],
          targets.map(([host, count]) => [this.hostLink(host), count])),
        this.table("Where they come from", ["switch", "routes"],
          sources.map(([number, count]) => [this.switchLink(number), count])))];
    });
  }

  line(cables) {
    const layer = this.explorer.layer;
    const loaded = layer.kind === "load";
    const rows = cables.map((cable) => [
      this.link("cable", cable, this.network.cableName(cable)),
      ...(loaded ? [this.explorer.canvas.heat(cable, layer)] : [this.network.rateOf(2 * cable) || "unknown"]),
    ]);
    if (loaded) rows.sort((one, other) => other[1] - one[1]);
    return [
      element("h2", {}, counted(cables.length, "cable")),
      this.table("Each cable", ["cable", loaded ? `${layer.unit}, hotter channel` : "rate"], rows),
    ];
  }

  switch(number) {
    const { fabric, level } = this.network;
    const sides = this.network.sides(number);
    const below = sides.down.capacity + sides.hosts.capacity;
    const over = sides.up.cables && below ? `${rounded(below / sides.up.capacity)} : 1` : "";
    const ports = sides.up.cables + sides.across.cables + sides.down.cables + sides.hosts.cables;
    const words = [
      sides.hosts.cables ? `${counted(sides.hosts.cables, "host")}` : "",
      ...["up", "across", "down"].map((way) => sides[way].cables ? `${counted(sides[way].cables, "cable")} ${way}` : ""),
    ].filter(Boolean).join(", ");
    const layer = this.explorer.layer;
    const loaded = layer.kind === "load";
    const cables = this.network.cablesOf[number].map((cable) => [
      this.link("cable", cable, this.network.cableName(cable)),
      loaded ? this.explorer.canvas.heat(cable, layer) : this.network.rateOf(2 * cable) || "unknown",
    ]);
    if (loaded) cables.sort((one, other) => other[1] - one[1]);
    const group = this.network.groups && this.network.groups.of[number];
    return [
      element("h2", {}, fabric.switch[number]),
      this.facts([
        ["Switch", words],
        ["Ports", `${ports} used${fabric.switchPorts[number] ? ` of ${fabric.switchPorts[number]}` : ""}`],
        ["Oversubscription", over && `${over} (down to up)`],
        ["Level", String(level[number])],
        ["Group", group >= 0 ? this.link("group", group, this.network.groups.name[group]) : ""],
        ["GUID", fabric.switchGuid[number] && `0x${fabric.switchGuid[number]}`],
        ["LID", fabric.switchLid[number] ? String(fabric.switchLid[number]) : ""],
        ...this.death("switch", number),
        ...this.faults("switch", number),
      ]),
      this.network.hostsOf[number].length ? this.table("Hosts", ["host", "port"],
        this.network.hostsOf[number].map((host) => [this.hostLink(host), fabric.hostPort[host]])) : undefined,
      cables.length ? this.table("Cables", ["cable", loaded ? `${layer.unit}, hotter channel` : "rate"], cables) : undefined,
    ];
  }

  host(host) {
    const { fabric, jobs } = this.network;
    const { explorer } = this;
    const start = (end) => element("button", { type: "button", click: () => explorer.routeEnd(end, host) }, `Route ${end} here`);
    const together = jobs[host] ? jobs.filter((job) => job === jobs[host]).length : 0;
    return [
      element("h2", {}, fabric.host[host]),
      this.facts([
        ["Host", [this.switchLink(fabric.hostSwitch[host]), ` port ${fabric.hostPort[host]}`]],
        ["Rate", this.network.rateOf(this.network.fromHost(host)) || "unknown"],
        ...["rails", "planes"].map((by) => [by === "rails" ? "Rail" : "Plane",
          ((this.network.hostsBy[by] || [])[host] || "").replace(/^\w+ /, "")]),
        ["Job", together ? this.link("job", jobs[host], `${jobs[host]}, ${counted(together, "host")}`) : ""],
        ["GUID", fabric.hostGuid[host] && `0x${fabric.hostGuid[host]}`],
        ["LID", fabric.hostLid[host] ? String(fabric.hostLid[host]) : ""],
      ]),
      element("p", {}, start("from"), " ", start("to")),
    ];
  }

  job(name) {
    const hosts = this.network.jobs.flatMap((job, host) => (job === name ? [host] : []));
    return [
      element("h2", {}, `job ${name}`),
      this.table(counted(hosts.length, "host"), ["host", "switch"],
        hosts.map((host) => [this.hostLink(host), this.switchLink(this.network.fabric.hostSwitch[host])])),
    ];
  }

  group(group) {
    const { groups } = this.network;
    const members = groups.of.flatMap((of, number) => (of === group ? [number] : []));
    const hosts = members.reduce((sum, number) => sum + this.network.hostsOf[number].length, 0);
    const { explorer } = this;
    const open = explorer.canvas.opened.has(group);
    return [
      element("h2", {}, groups.name[group]),
      this.facts([["Group", `${counted(members.length, "switch")}, ${counted(hosts, "host")}`]]),
      this.network.scene.bundled ? element("p", {}, element("button",
        { type: "button", click: () => explorer.open(group) }, open ? "Bundle its cables" : "Show its cables one by one")) : undefined,
      this.table("Switches", ["switch", "hosts", "cables"], members.map((number) => [
        this.switchLink(number), this.network.hostsOf[number].length, this.network.cablesOf[number].length])),
    ];
  }

  /** The route between two hosts, there and back. */
  route(from, to) {
    const { fabric } = this.network;
    const layer = this.explorer.layer;
    const loaded = layer.kind === "load";
    const way = (one, other) => {
      const { channels, arrives } = this.explorer.channelsBetween(one, other);
      const rows = channels.map((channel) => {
        // Not all loads tell of hosts' own links.
        const load = loaded ? layer.load[channel] || (channel < 2 * this.network.cables ? 0 : undefined) : undefined;
        return [this.channelLink(channel), this.network.rateOf(channel) || "unknown",
          ...(loaded ? [load === undefined ? "" : load] : [])];
      });
      const title = `${fabric.host[one]} → ${fabric.host[other]}${arrives ? "" : ": does not arrive"}`;
      return this.table(title, ["channel", "rate", ...(loaded ? [layer.unit] : [])], rows);
    };
    const several = !this.network.followsTables;
    return [
      element("h2", {}, "Route"),
      several ? element("p", { class: "quiet" },
        `${this.network.tables.words}: all channels on shortest paths are listed.`) : undefined,
      way(from, to),
      way(to, from),
    ];
  }

  /** What the network is, and where to begin. */
  overview() {
    const { network } = this;
    const layer = this.explorer.layer;
    const { view } = this.explorer;
    const parts = [];
    if (view.words) parts.push(element("p", { class: "told" }, view.words));
    parts.push(this.facts([
      ["Network", `${counted(network.hosts, "host")}, ${counted(network.switches, "switch")}, ` +
        `${counted(network.cables, "cable")} between them`],
      ["Routes", network.tables.words],
    ]));
    if (layer.kind === "load" && network.cables) {
      const order = [...layer.heat.slice(0, 2 * network.cables).keys()];
      order.sort((one, other) => layer.heat[other] - layer.heat[one]);
      const rows = order.slice(0, 10).map((channel) => [this.channelLink(channel), layer.load[channel],
        ...(layer.port ? [layer.heat[channel]] : [])]);
      parts.push(this.table("Hottest channels", ["channel", layer.unit, ...(layer.port ? [`as at ${layer.port}`] : [])], rows));
    }
    if (network.costs.length) {
      parts.push(this.table("What fails worst", ["part", "cost"], network.costs.slice(0, 12).map(([part, number, words]) => [
        this.link(part, number, part === "cable" ? network.cableName(number) : network.fabric.switch[number]), words])));
    }
    if (network.marks.length) {
      parts.push(this.table("Faults and marks", ["part", "what"], network.marks.map((mark) => [
        this.link(mark.part, mark.number, mark.part === "cable" ? network.cableName(mark.number) : network.fabric.switch[mark.number]), mark.words])));
    }
    parts.push(element("p", { class: "quiet" },
      "Click a cable, a switch, a host or a group. Drag to move, turn the wheel to zoom. " +
      "Keys: / search, f fit, + and – zoom, arrows move, Esc back."));
    return parts;
  }
}
