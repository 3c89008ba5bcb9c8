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

  /** What a part is in each state that is shown, once where that is the same. */
  inEach(find) {
    const { shown } = this.explorer;
    const told = shown.map((view) => this.network.under(view, find));
    return told.every((words) => words === told[0]) ? told[0]
      : shown.flatMap((view, at) => [...(at ? [element("br")] : []), `${told[at] || "–"} (${view.name})`]);
  }

  /** Notes on a part: in which states it is, its faults, and what changed. */
  notes(part, number) {
    const { marks, views, twinOf } = this.network;
    const words = marks.filter((mark) => mark.part === part && mark.number === number).map((mark) => mark.words);
    const having = views.filter((view) => !view.lacks.has(`${part} ${number}`)).map((view) => view.name);
    const twin = twinOf.get(`${part} ${number}`);
    return [
      ["State", having.length < views.length ? `only ${having.join(", ")}` : ""],
      ["Note", words.join("; ")],
      ["Elsewhere", twin === undefined ? "" : this.link(part, twin, this.network.nameOf(part, twin))],
    ];
  }

  /** What both channels of a cable carry, in every layer. */
  loads(cable) {
    const { shown } = this.explorer;
    const names = [...new Set(shown.flatMap((view) => Object.keys(view.layers)))];
    const port = shown.length > 1 ? "" : Object.values(shown[0].layers).find((layer) => layer.port)?.port;
    const rows = names.flatMap((name) => [0, 1].map((back) => {
      const layers = shown.map((view) => view.layers[name]);
      const { unit } = layers.find(Boolean);
      return [
        this.network.channelName(2 * cable + back),
        name.endsWith(unit) ? name : `${name}, ${unit}`,
        ...shown.map((view, at) => (!layers[at] || view.lacks.has(`cable ${cable}`) ? "–" : layers[at].load[2 * cable + back])),
        ...(port ? [layers[0].heat[2 * cable + back]] : []),
      ];
    }));
    const heads = shown.length > 1 ? shown.map((view) => view.name) : ["load"];
    return rows.length ? this.table("What it carries",
      ["direction", "counted", ...heads, ...(port ? [`as at ${port}`] : [])], rows) : undefined;
  }

  cable(cable) {
    const { fabric } = this.network;
    const others = this.network.parallel(cable).filter((one) => one !== cable);
    const [near, far] = [fabric.from[cable], fabric.to[cable]];
    return [
      element("h2", {}, this.network.cableName(cable)),
      this.facts([
        ["Cable", [this.switchLink(near), ` port ${fabric.fromPort[cable]}`, element("br"),
          this.switchLink(far), ` port ${fabric.toPort[cable]}`]],
        ["Rate", this.inEach((view) => view.lacks.has(`cable ${cable}`) ? "not there" : this.network.rateOf(2 * cable) || "unknown")],
        ["Option", `--without "${fabric.switch[near]}:${fabric.fromPort[cable]}"`],
        ...this.death("cable", cable),
        ...this.notes("cable", cable),
      ]),
      this.loads(cable),
      this._jobs(cable),
      ...this.explorer.shown.flatMap((view, at, all) => this.network.under(view, () => [
        ...(all.length > 1 ? [element("h3", {}, view.name)] : []), ...this.usersOf(cable)])),
      others.length ? this.table(`${counted(others.length, "other cable")} between these switches`,
        ["cable"], others.map((one) => [this.link("cable", one, this.network.cableName(one))])) : undefined,
    ];
  }

  /** The jobs whose messages cross a cable. */
  _jobs(cable) {
    const rows = [2 * cable, 2 * cable + 1].flatMap((channel) => (this.network.jobsOn.get(channel) ?? [])
      .map(([job, heat]) => [this.network.channelName(channel), this.link("job", job, job), heat]));
    return rows.length ? this.table("Jobs on it", ["direction", "job", "messages at once"], rows) : undefined;
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

  /** Cables and the heat of the hotter channel in each state that is shown, the hottest first. */
  heats(caption, cables) {
    const { shown, canvas } = this.explorer;
    const layers = shown.map((view) => this.explorer._layerOf(view));
    const loaded = layers.some((layer) => layer.kind === "load");
    const rows = cables.map((cable) => [
      this.link("cable", cable, this.network.cableName(cable)),
      ...(loaded ? layers.map((layer, at) => (layer.kind !== "load" || shown[at].lacks.has(`cable ${cable}`)
        ? "–" : canvas.heat(cable, layer))) : [this.network.rateOf(2 * cable) || "unknown"]),
    ]);
    const number = (value) => (typeof value === "number" ? value : -1);
    if (loaded) rows.sort((one, other) => number(other.at(-1)) - number(one.at(-1)));
    const unit = layers.find((layer) => layer.kind === "load")?.unit;
    const heads = !loaded ? ["rate"] : shown.length > 1 ? shown.map((view) => view.name) : [`${unit}, hotter channel`];
    return this.table(shown.length > 1 && loaded ? `${caption}: ${unit}, hotter channel` : caption, ["cable", ...heads], rows);
  }

  line(cables) {
    return [element("h2", {}, counted(cables.length, "cable")), this.heats("Each cable", cables)];
  }

  /** What hangs on a switch, and how many more go down than up. */
  _sides(number) {
    const sides = this.network.sides(number);
    const below = sides.down.capacity + sides.hosts.capacity;
    return {
      over: sides.up.cables && below ? `${rounded(below / sides.up.capacity)} : 1 (down to up)` : "",
      ports: sides.up.cables + sides.across.cables + sides.down.cables + sides.hosts.cables,
      words: [
        sides.hosts.cables ? `${counted(sides.hosts.cables, "host")}` : "",
        ...["up", "across", "down"].map((way) => sides[way].cables ? `${counted(sides[way].cables, "cable")} ${way}` : ""),
      ].filter(Boolean).join(", "),
    };
  }

  /** The other switches in the housing of one, by their system GUID. */
  _chassis(number) {
    const { system } = this.network.fabric;
    const others = system.flatMap((one, other) => (one === system[number] && other !== number ? [other] : []));
    if (!others.length) return "";
    const links = others.slice(0, 6).flatMap((other) => [this.switchLink(other), " "]);
    return ["with ", ...links, others.length > 6 ? `and ${counted(others.length - 6, "other")}` : ""];
  }

  switch(number) {
    const { fabric, level } = this.network;
    const { shown } = this.explorer;
    const all = (kind) => [...new Set(shown.flatMap((view) => this.network.under(view, () => this.network[kind][number])))];
    const [hosts, cables] = [all("hostsOf"), all("cablesOf")];
    const group = this.network.groupOf(number);
    const { rails } = this.network.hostsBy;
    const of = fabric.switchPorts[number] ? ` of ${fabric.switchPorts[number]}` : "";
    return [
      element("h2", {}, fabric.switch[number]),
      this.facts([
        ["Switch", this.inEach(() => this._sides(number).words)],
        ["Ports", this.inEach(() => `${this._sides(number).ports} used${of}`)],
        ["Oversubscription", this.inEach(() => this._sides(number).over)],
        ["Level", level[number] > 0 ? String(level[number]) : ""],
        ["Group", group >= 0 ? this.link("group", group, this.network.groupName[group]) : ""],
        ["Chassis", this._chassis(number)],
        ["GUID", fabric.switchGuid[number] && `0x${fabric.switchGuid[number]}`],
        ["LID", fabric.switchLid[number] ? String(fabric.switchLid[number]) : ""],
        ...this.death("switch", number),
        ...this.notes("switch", number),
      ]),
      hosts.length ? this.table("Hosts", ["host", ...(rails ? ["rail"] : []), "port"], hosts.map((host) => [
        this.hostLink(host), ...(rails ? [rails[host].replace("rail ", "")] : []), fabric.hostPort[host]])) : undefined,
      cables.length ? this.heats("Cables", cables) : undefined,
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
        ["Rate", this.inEach((view) => view.lacks.has(`host ${host}`) ? "not there" : this.network.rateOf(this.network.fromHost(host)) || "unknown")],
        ...["rails", "planes"].map((by) => [by === "rails" ? "Rail" : "Plane",
          ((this.network.hostsBy[by] || [])[host] || "").replace(/^\w+ /, "")]),
        ["Server", this.network.servers[host] ? this.link("server", this.network.servers[host], this.network.servers[host]) : ""],
        ["Job", together ? this.link("job", jobs[host], `${jobs[host]}, ${counted(together, "host")}`) : ""],
        ["GUID", fabric.hostGuid[host] && `0x${fabric.hostGuid[host]}`],
        ["LID", fabric.hostLid[host] ? String(fabric.hostLid[host]) : ""],
        ...this.notes("host", host),
      ]),
      element("p", {}, start("from"), " ", start("to")),
    ];
  }

  /** The adapters of a server, and where each is plugged in. */
  server(name) {
    const { fabric, hostsBy, servers } = this.network;
    const hosts = servers.flatMap((server, host) => (server === name ? [host] : []));
    const rails = hostsBy.rails;
    return [
      element("h2", {}, /^server/i.test(name) ? name : `server ${name}`),
      this.table(counted(hosts.length, "adapter"), ["adapter", ...(rails ? ["rail"] : []), "switch"], hosts.map((host) => [
        this.hostLink(host), ...(rails ? [rails[host].replace("rail ", "")] : []),
        element("span", {}, this.switchLink(fabric.hostSwitch[host]), ` port ${fabric.hostPort[host]}`)])),
      this.facts(hosts.flatMap((host) => this.network.marks.filter(({ part, number }) => part === "host" && number === host)
        .map(({ words }) => [fabric.host[host], words]))),
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
    const members = this.network.membersOf(group);
    const { explorer } = this;
    const bundled = this.network.drawings.some(({ scene }) => scene.bundled && scene.boxes.some((box) => box[4] === group));
    const hosts = members.reduce((sum, number) => sum + this.network.hostsOf[number].length, 0);
    const open = explorer.canvas.opened.has(group);
    return [
      element("h2", {}, this.network.groupName[group]),
      this.facts([["Group", `${counted(members.length, "switch")}, ${counted(hosts, "host")}`]]),
      bundled ? element("p", {}, element("button",
        { type: "button", click: () => explorer.open(group) }, open ? "Bundle its cables" : "Show its cables one by one")) : undefined,
      this.table("Switches", ["switch", "hosts", "cables"], members.map((number) => [
        this.switchLink(number), this.network.hostsOf[number].length, this.network.cablesOf[number].length])),
    ];
  }

  /** The route between two hosts, there and back, in each state that is shown. */
  route(from, to) {
    const { network } = this;
    return [
      element("h2", {}, "Route"),
      ...this.explorer.shown.flatMap((view, at, all) => network.under(view, () => [
        ...(all.length > 1 ? [element("h3", {}, view.name)] : []),
        network.followsTables ? undefined : element("p", { class: "quiet" },
          `${network.tables.words}: all channels on shortest paths are listed.`),
        this._way(view, from, to),
        this._way(view, to, from),
      ])),
    ];
  }

  _way(view, from, to) {
    const { network } = this;
    const { fabric, cables } = network;
    const [one, other] = [from, to].map((host) => network.here("host", host));
    const layer = this.explorer._layerOf(view);
    const loaded = layer.kind === "load";
    const { channels, arrives } = this.explorer.channelsBetween(one, other);
    const rows = channels.map((channel) => {
      // Not all loads tell of hosts' own links.
      const load = loaded ? layer.load[channel] || (channel < 2 * cables ? 0 : undefined) : undefined;
      return [this.channelLink(channel), network.rateOf(channel) || "unknown",
        ...(loaded ? [load === undefined ? "" : load] : [])];
    });
    const title = `${fabric.host[one]} → ${fabric.host[other]}${arrives ? "" : ": does not arrive"}`;
    return this.table(title, ["channel", "rate", ...(loaded ? [layer.unit] : [])], rows);
  }

  /** What the network is, and where to begin. */
  overview() {
    const { network } = this;
    const { shown } = this.explorer;
    const parts = [];
    const told = (caption, marks) => marks.length && parts.push(this.table(caption, ["part", "what"],
      marks.map(({ part, number, words }) => [this.link(part, number, network.nameOf(part, number)), words])));
    const others = network.marks.filter(({ kind }) => !["fault", "missing"].includes(kind));
    told("What changed", others.filter(({ kind }) => kind !== "victim"));
    parts.push(...shown.flatMap((view) => network.under(view, () => this._state(view, shown.length > 1))));
    told("Messages that lose most", others.filter(({ kind }) => kind === "victim"));
    if (network.costs.length) {
      parts.push(this.table("What fails worst", ["part", "cost"], network.costs.slice(0, 12).map(([part, number, words]) => [
        this.link(part, number, network.nameOf(part, number)), words])));
    }
    told("Faults", network.marks.filter(({ kind }) => kind === "fault"));
    const lacking = network.marks.filter(({ kind }) => kind === "missing");
    // Both switches of a pair are marked; one line tells of it.
    told("Missing cables", lacking.filter(({ words }, at) => lacking.findIndex((one) => one.words === words) === at));
    parts.push(element("p", { class: "quiet" },
      "Click a cable, a switch, a host or a group. Drag to move, turn the wheel to zoom. " +
      "Keys: / search, f fit, + and – zoom, arrows move, Esc back."));
    return parts;
  }

  /** A state: its size, its routes and its hottest channels. */
  _state(view, several) {
    const { network } = this;
    const layer = this.explorer._layerOf(view);
    const lacking = (part) => view.missing.filter(([kind]) => kind === part).length;
    const parts = several ? [element("h3", {}, view.name)] : [];
    if (view.words) parts.push(element("p", { class: "told" }, view.words));
    parts.push(this.facts([
      ["Network", `${counted(network.hosts - lacking("host"), "host")}, ` +
        `${counted(network.switches - lacking("switch"), "switch")}, ` +
        `${counted(network.cables - lacking("cable"), "cable")} between them`],
      ["Routes", network.tables.words],
    ]));
    if (layer.kind === "load" && network.cables) {
      const order = [...layer.heat.slice(0, 2 * network.cables).keys()];
      order.sort((one, other) => layer.heat[other] - layer.heat[one]);
      const rows = order.slice(0, several ? 5 : 10).map((channel) => [this.channelLink(channel), layer.load[channel],
        ...(layer.port ? [layer.heat[channel]] : [])]);
      parts.push(this.table("Hottest channels", ["channel", layer.unit, ...(layer.port ? [`as at ${layer.port}`] : [])], rows));
    }
    return parts;
  }
}
