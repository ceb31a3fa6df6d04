// Tables that are sorted by a click on a head, filtered by text, walked through by arrow keys, and saved as CSV.

const kinds = {};
// columns: title, about (on hover), text(row), key(row), number, picture(row); rows: their data; rowFor(row): its element.
function fillTable(id, columns, rows, rowFor) {
  const table = byId(id), head = element("tr"), body = table.tBodies[0];
  let by = null, up = false, wanted = "";
  const shows = (row) => !wanted || columns.some((column) => !column.number && column.text && String(column.text(row)).toLowerCase().includes(wanted));
  const sorted = () => {
    const some = rows.filter(shows);
    return by === null ? some : some.sort((a, b) => {
      const [x, y] = [columns[by].key(a), columns[by].key(b)];
      return (x < y ? -1 : x > y ? 1 : 0) * (up ? 1 : -1);
    });
  };
  function fill() {
    const some = sorted();
    body.replaceChildren(...some.map((row, k) => {
      const line = rowFor ? rowFor(row) : element("tr");
      if (rowFor) line.tabIndex = k === 0 ? 0 : -1; // one stop for the tab key; arrows go on from there
      for (const column of columns) {
        const cell = element("td", column.picture ? null : column.text(row), column.picture ? { class: "drawn" } : column.number ? { class: "number" } : {});
        if (column.picture) cell.append(column.picture(row));
        line.append(cell);
      }
      return line;
    }));
    return some.length;
  }
  columns.forEach((column, k) => {
    const cell = element("th", null, column.number ? { class: "number", scope: "col" } : { scope: "col" });
    if (!column.key) { cell.textContent = column.title; head.append(cell); return; }
    const button = element("button", column.title, { type: "button", ...(column.about ? { title: column.about } : {}) });
    button.addEventListener("click", () => {
      up = by === k ? !up : !column.number;
      by = k;
      for (const other of head.cells) other.removeAttribute("aria-sort");
      cell.setAttribute("aria-sort", up ? "ascending" : "descending");
      fill();
      marked();
    });
    cell.append(button);
    head.append(cell);
  });
  table.tHead.replaceChildren(head);
  body.onkeydown = (event) => {
    const step = { ArrowDown: "nextElementSibling", ArrowUp: "previousElementSibling" }[event.key], line = event.target.closest("tr");
    if (step && line && line[step]) { event.preventDefault(); line.tabIndex = -1; line[step].tabIndex = 0; line[step].focus(); }
    if ((event.key === "Enter" || event.key === " ") && line) { event.preventDefault(); line.click(); }
  };
  kinds[id] = { columns, rows: () => sorted() };
  fill();
  return (text) => { wanted = text.trim().toLowerCase(); return fill(); };
}
// An interval as a line with its estimate, on the scale of all of them; a value from 0 as a bar.
function interval({ estimate, low, high }, reach) {
  const x = (value) => 50 + (48 * Math.max(-reach, Math.min(reach, value))) / reach;
  const svg = drawn("svg", { viewBox: "0 0 100 12", preserveAspectRatio: "none", "aria-hidden": "true" });
  svg.append(drawn("path", { d: "M50 0v12", style: "stroke: var(--line)", "vector-effect": "non-scaling-stroke" }));
  if (estimate === null) return svg;
  const name = estimate > 0 ? "positive" : "negative";
  svg.append(drawn("path", { d: `M${x(low)} 6H${x(high)}`, style: `stroke: var(--${name}); stroke-width: 2`, "vector-effect": "non-scaling-stroke" }));
  svg.append(drawn("path", { d: `M${x(estimate)} 2v8`, style: `stroke: var(--${name}); stroke-width: 4`, "vector-effect": "non-scaling-stroke" }));
  return svg;
}
function bar(share) {
  const svg = drawn("svg", { viewBox: "0 0 100 12", preserveAspectRatio: "none", "aria-hidden": "true" });
  svg.append(drawn("rect", { x: 0, y: 3, width: 100, height: 6, style: "fill: var(--line); opacity: .6" }), drawn("rect", { x: 0, y: 3, width: 100 * Math.max(0, Math.min(1, share)), height: 6, style: "fill: var(--accent)" }));
  return svg;
}
