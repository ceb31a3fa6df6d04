// What a fit found, its report and its files; earlier fits stay within reach.
import { byId, listed, made } from "./parts.js";
import { get } from "./asking.js";
import { notes } from "./columns.js";

const answers = new Map();

export function forget() {
  answers.clear();
  byId("result").hidden = true;
  byId("report").removeAttribute("src");
}

export async function show(numbers) {
  for (const number of numbers) if (!answers.has(number)) answers.set(number, await get(`fits/${number}`));
  const last = numbers.at(-1), answer = answers.get(last);
  byId("headline").textContent = `${answer.headline}.`;
  byId("sure").textContent = answer.how_sure;
  listed(byId("cautions"), answer.cautions);
  listed(byId("fit-notes"), answer.notes.filter((note) => !notes().includes(note)));
  byId("command").textContent = answer.command;
  byId("open").href = byId("report").src = `fits/${last}/report.html`;
  byId("all").href = `fits/${last}/all`;
  byId("files").replaceChildren(...Object.entries(answer.files).map(([name, what]) => file(last, name, what)));
  const earlier = numbers.slice(0, -1).reverse();
  byId("earlier-box").hidden = !earlier.length;
  byId("earlier").replaceChildren(...earlier.map(before));
  byId("result").hidden = false;
}

function file(number, name, what) {
  const line = made("li");
  line.append(made("a", name, { href: `fits/${number}/${name}?keep`, download: name }), ` ${what}`);
  return line;
}

function before(number) {
  const line = made("li"), answer = answers.get(number);
  line.append(
    made("a", `${answer.headline}.`, { href: `fits/${number}/report.html`, target: "_blank", rel: "noopener" }),
    " ", made("a", "Download", { href: `fits/${number}/all`, download: "" }), made("br"), made("code", answer.command),
  );
  return line;
}
