// The graph as a matrix: a square per link, in an order in which variables with strong links stand together.

function matrixPicture() {
  const wide = Math.max(byId("matrix").clientWidth || 600, 200) - 4, most = wide < 500 ? 14 : 24;
  const room = 10 + Math.ceil(Math.max(...names.map((name) => widthOf(clip(name, most), 13))));
  const cell = Math.max(14, Math.min(34, Math.floor((wide - room) / m))), font = Math.min(13, cell - 2);
  const at = new Map(order.map((node, k) => [node, k]));
  const svg = drawn("svg", { width: room + m * cell + 4, height: room + m * cell + 4, "font-size": font });
  svg.append(drawn("rect", { x: room, y: room, width: m * cell, height: m * cell, style: "fill: var(--paper); stroke: var(--line)" }));
  for (let k = 1; k < m; k++) {
    svg.append(drawn("path", { d: `M${room} ${room + k * cell}h${m * cell}M${room + k * cell} ${room}v${m * cell}`, style: "stroke: var(--line); stroke-width: .5" }));
  }
  order.forEach((node, k) => {
    const middle = room + (k + 0.5) * cell, full = () => drawn("title", {}, document.createTextNode(names[node]));
    svg.append(drawn("text", { x: room - 5, y: middle, "text-anchor": "end", "dominant-baseline": "central" }, document.createTextNode(clip(names[node], most)), full()));
    svg.append(drawn("text", { transform: `translate(${middle} ${room - 5}) rotate(-90)`, "dominant-baseline": "central" }, document.createTextNode(clip(names[node], most)), full()));
    svg.append(drawn("rect", { x: room + k * cell, y: room + k * cell, width: cell, height: cell, style: "fill: var(--line); opacity: .5" }));
  });
  for (const [pair, strength, where] of shownLinks()) {
    const [i, j] = ends(pair).map((node) => at.get(node));
    for (const [row, column] of [[i, j], [j, i]]) {
      const name = state.method === "both" ? where : strength > 0 ? "positive" : "negative";
      const [x, y] = [room + column * cell, room + row * cell];
      const square = drawn("g", { "data-pair": pair, style: "cursor: pointer" },
        drawn("rect", { x: x + 0.5, y: y + 0.5, width: cell - 1, height: cell - 1, style: `fill: var(--${name}); fill-opacity: ${(0.15 + 0.85 * Math.min(1, Math.abs(strength))).toFixed(3)}` }),
        drawn("text", { x: x + cell / 2, y: y + cell / 2, "text-anchor": "middle", "dominant-baseline": "central", style: `fill: ${Math.abs(strength) > 0.45 ? "var(--paper)" : "var(--ink)"}`, "font-size": cell > 29 ? 10 : font },
          document.createTextNode(cell > 29 ? signed(strength).replace("0.", ".") : strength > 0 ? "+" : "−")),
        drawn("title", {}, document.createTextNode(linkWords(pair))));
      square.addEventListener("click", () => holdLink(pair));
      svg.append(square);
    }
  }
  return svg;
}
function drawMatrix() { if (state.view === "matrix") byId("matrix").replaceChildren(matrixPicture()); }
