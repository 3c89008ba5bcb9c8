// Finds parts, jobs and servers by name, GUID or LID.

const MOST_FOUND = 14;

class Index {
  constructor({ fabric, groupName, jobs, servers }) {
    const entry = (kind, number, name, ...others) =>
      ({ kind, number, name, text: [name, ...others].join(" ").toLowerCase() });
    this._index = [
      ...fabric.switch.map((name, at) =>
        entry("switch", at, name, `0x${fabric.switchGuid[at]}`, fabric.switchLid[at] ? `lid ${fabric.switchLid[at]}` : "")),
      ...fabric.host.map((name, at) =>
        entry("host", at, name, `0x${fabric.hostGuid[at]}`, fabric.hostLid[at] ? `lid ${fabric.hostLid[at]}` : "")),
      ...groupName.map((name, at) => entry("group", at, name)),
      ...[...new Set(jobs.filter(Boolean))].map((job) => entry("job", job, job)),
      ...[...new Set(servers.filter(Boolean))].map((server) => entry("server", server, server)),
    ];
  }

  /** The parts whose names hold some words, the best first; of one kind where that is asked for. */
  search(words, only) {
    const asked = words.trim().toLowerCase();
    if (!asked) return [];
    const found = this._index.filter(({ kind, text }) => text.includes(asked) && (!only || kind === only));
    const rank = ({ name, text }) => (name.toLowerCase() === asked ? 0
      : `${text} `.includes(`${asked} `) ? 1 : text.startsWith(asked) ? 2 : 3);
    return found.sort((one, other) => rank(one) - rank(other)).slice(0, MOST_FOUND);
  }
}

function searchBox(explorer) {
  const [box, list] = [explorer.at("search"), explorer.at("found")];
  const index = new Index(explorer.network);
  let [found, place] = [[], 0];
  const go = (one) => {
    box.value = "";
    found = [];
    show();
    explorer.find(one);
  };
  const show = () => {
    list.replaceChildren(...found.map((one, number) => element("li",
      { role: "option", "aria-selected": String(number === place), mousedown: () => go(one) },
      one.name, element("small", {}, ` ${one.kind}`))));
    if (box.value.trim() && !found.length) list.append(element("li", { class: "quiet" }, "Nothing has such a name."));
    box.setAttribute("aria-expanded", String(found.length > 0));
  };
  box.addEventListener("input", () => {
    [found, place] = [index.search(box.value, explorer.awaitsHost ? "host" : ""), 0];
    show();
  });
  box.addEventListener("keydown", (event) => {
    if (event.key === "/" && !box.value) event.preventDefault();
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step && found.length) {
      place = (place + step + found.length) % found.length;
      show();
      event.preventDefault();
    }
    if (event.key === "Enter" && found.length) {
      go(found[place]);
      box.blur();
    }
  });
  box.addEventListener("blur", () => list.replaceChildren());
}
