// Tables whose rows are sorted by a click on a head.

/** Lets a click on a table's head sort its rows by that column. */
function sortable(table) {
  const body = table.tBodies[0];
  const heads = table.tHead ? [...table.tHead.rows[0].cells] : [];
  heads.forEach((head, at) => {
    head.tabIndex = 0;
    const sort = () => {
      const falling = head.getAttribute("aria-sort") !== "descending" && head.classList.contains("number")
        || head.getAttribute("aria-sort") === "ascending";
      heads.forEach((one) => one.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", falling ? "descending" : "ascending");
      const rows = [...body.rows].map((row) => [row.cells[at]?.textContent.trim() ?? "", row]);
      const number = (text) => Number.parseFloat(text.replace(/[, \u00a0]/g, ""));
      rows.sort(([one], [other]) => {
        const [a, b] = [number(one), number(other)];
        const order = Number.isNaN(a) || Number.isNaN(b)
          ? one.localeCompare(other, "en", { numeric: true }) : a - b;
        return falling ? -order : order;
      });
      body.append(...rows.map(([, row]) => row));
    };
    head.addEventListener("click", sort);
    head.addEventListener("keydown", (event) => event.key === "Enter" && sort());
  });
}

document.querySelectorAll("main table").forEach(sortable);
