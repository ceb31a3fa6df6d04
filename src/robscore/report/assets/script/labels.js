// Where names stand beside their variables, in pixels of the screen. Every name is shown: in full if there is room, else
// in several lines, else cut, and only where all of that fails over another one.

const labelFont = () => (byId("graph").clientWidth < 500 ? 11 : 12);
const ruler = document.createElement("canvas").getContext("2d");
const measured = new Map();
function widthOf(text, size) {
  const key = `${size} ${text}`;
  if (!measured.has(key)) { ruler.font = `${size}px system-ui, sans-serif`; measured.set(key, ruler.measureText(text).width); }
  return measured.get(key);
}
// A name in lines of about so many signs, at most three; the last one is cut.
function wrapped(name, most) {
  const lines = [""];
  for (const word of name.split(/(?<=[\s_.\-/])/)) {
    const last = lines.at(-1);
    if (last && [...last + word.trimEnd()].length > most) lines.push(word);
    else lines[lines.length - 1] = last + word;
  }
  const cut = lines.slice(0, 3).map((line) => line.trim());
  if (lines.length > 3) cut[2] = `${cut[2]} ${lines.slice(3).join("")}`;
  return cut.map((line, k) => (k < 2 && lines.length > 1 ? clip(line, most + 6) : clip(line, most))).join("\n");
}
const sides = [[1, 0], [-1, 0], [0, -1], [0, 1], [1, -1], [-1, -1], [1, 1], [-1, 1]];
function boxOf(text, [x, y], [right, down], size, gap) {
  const lines = text.split("\n"), wide = Math.max(...lines.map((line) => widthOf(line, size))) + 2, high = 1.18 * size * lines.length;
  const away = right && down ? 0.75 * gap : gap;
  const left = right > 0 ? x + away : right < 0 ? x - away - wide : x - wide / 2;
  const top = down > 0 ? y + away : down < 0 ? y - away - high : y - high / 2;
  return { left, top, right: left + wide, bottom: top + high, wide, high, at: [right, down], text };
}
const overlap = (a, b) => Math.max(0, Math.min(a.right, b.right) - Math.max(a.left, b.left)) * Math.max(0, Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top));
// Whether the line from a to b goes through a box.
function crosses([ax, ay], [bx, by], box) {
  let [enter, leave] = [0, 1];
  for (const [from, way, low, high] of [[ax, bx - ax, box.left, box.right], [ay, by - ay, box.top, box.bottom]]) {
    if (way === 0) { if (from < low || from > high) return false; continue; }
    const [one, other] = [(low - from) / way, (high - from) / way];
    [enter, leave] = [Math.max(enter, Math.min(one, other)), Math.min(leave, Math.max(one, other))];
  }
  return enter < leave;
}
// Boxes for all names. at: places in pixels; frame: wide, high; radius: of the variables; lines: pairs of variables that
// names rather keep off.
function placeNames(at, frame, radius, size, lines) {
  const dots = at.map(([x, y]) => ({ left: x - radius, right: x + radius, top: y - radius, bottom: y + radius }));
  const first = at.map((_, k) => k).sort((a, b) => central.degree[b] - central.degree[a] || a - b);
  const outside = (box) => box.left < 1 || box.top < 1 || box.right > frame.wide - 1 || box.bottom > frame.high - 1;
  const visible = at.map(([x, y]) => x >= 0 && y >= 0 && x <= frame.wide && y <= frame.high);
  const cost = (box, node, placed) => {
    let total = outside(box) ? 1e6 : 0;
    for (const other of placed) if (other && other !== placed[node]) total += overlap(box, other);
    for (let k = 0; k < dots.length; k++) if (k !== node) total += 0.6 * overlap(box, dots[k]);
    return total;
  };
  const best = (node, texts, placed) => {
    let least = null;
    for (const text of texts) {
      for (const side of sides) {
        const box = boxOf(text, at[node], side, size, radius + 2), price = cost(box, node, placed);
        if (least !== null && price > least.price + 1e-9) continue;
        const crossed = lines.reduce((sum, [i, j]) => sum + crosses(at[i], at[j], box), 0);
        if (least === null || price < least.price - 1e-9 || crossed < least.crossed) least = { ...box, price, crossed };
        if (price === 0 && crossed === 0) return least;
      }
      if (least.price === 0) return least;
    }
    return least;
  };
  let placed = [];
  for (const most of [60, 28, 20, 14, 10, 7, 5, 3]) {
    placed = new Array(m).fill(null);
    let over = 0;
    for (const node of first) {
      if (!visible[node]) continue;
      const name = called[node];
      placed[node] = best(node, most > 30 ? [name] : [wrapped(name, most), clip(name, most)], placed);
      over += placed[node].price > 0 ? 1 : 0;
    }
    if (over === 0) break;
  }
  // Where there is room left, names are longer than the narrowest place allows.
  for (const node of first) {
    if (!placed[node] || placed[node].text === called[node]) continue;
    const name = called[node], now = [...placed[node].text].length;
    for (const text of [name, wrapped(name, 20), wrapped(name, 14), wrapped(name, 10), clip(name, 20), clip(name, 14), clip(name, 10), clip(name, 7)]) {
      if ([...text].length > 60 || [...text].length <= now) continue;
      const box = best(node, [text], placed);
      if (box.price === 0) { placed[node] = box; break; }
    }
  }
  return placed;
}
