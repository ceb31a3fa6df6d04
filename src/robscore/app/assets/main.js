// The page: choose a file, see what was read, fit, read the report; and again.
import { byId, sized } from "./parts.js";
import { get, post, send } from "./asking.js";
import * as columns from "./columns.js";
import * as progress from "./progress.js";
import * as results from "./results.js";
import * as settings from "./settings.js";

const OFTEN = 300, SELDOM = 15000; // milliseconds between two looks at what the server does
let upload = null, waiting = 0, isNew = true;
let shownRead = null, shownFit = null, failed = null; // numbers of the jobs whose ends the page has shown

function trouble(message) {
  byId("trouble").textContent = message;
  byId("trouble").hidden = !message;
}

// Do something that may be refused, and say why where it is.
async function trying(work) {
  try {
    await work();
  } catch (error) {
    byId("work").hidden = true;
    trouble(error.message);
    throw error;
  }
}

async function take(file) {
  if (upload) upload.stop();
  trouble("");
  results.forget();
  columns.forget();
  settings.reset();
  byId("settings").hidden = true;
  isNew = true;
  shownRead = shownFit = null;
  progress.sending(file, 0, file.size);
  const mine = upload = send(file, (done, total) => progress.sending(file, done, total));
  const state = await mine.over.finally(() => { if (upload === mine) upload = null; });
  if (state === null) {
    if (!upload) progress.over("Stopped.");
    return;
  }
  await start("look");
}

async function start(task) {
  trouble("");
  const asked = task === "fit" ? settings.options() : settings.reading();
  await post(`start/${task}`, asked);
  await look();
}

// What the server does now, and again soon.
async function look() {
  clearTimeout(waiting);
  const state = await get("state");
  const { job, file } = state;
  const busy = job !== null && job.state === "running";
  named(file);
  byId("fit").disabled = byId("again").disabled = busy;
  if (busy) progress.working(job);
  else if (!upload) byId("work").hidden = true;
  if (state.read !== null && state.read !== shownRead) await showRead(state.read);
  const last = state.fits.at(-1) ?? null;
  if (last !== null && last !== shownFit) await showFit(state.fits, job);
  if (job !== null && !busy && job.number !== failed) ended(job);
  waiting = setTimeout(() => trying(look).catch(() => {}), busy ? OFTEN : SELDOM);
}

function named(file) {
  byId("drop").classList.toggle("has-file", file !== null);
  byId("chooser-words").textContent = file === null ? "Choose a file" : "Choose another file";
  if (file !== null) byId("file-words").textContent = `${file.name}, ${sized(file.size)}`;
}

async function showRead(number) {
  const answer = await get("read");
  columns.show(answer);
  settings.suit(answer, isNew);
  if (isNew) byId("columns-box").open = matchMedia("(min-width: 900px)").matches;
  isNew = false;
  shownRead = number;
  byId("settings").hidden = false;
}

async function showFit(numbers, job) {
  await results.show(numbers);
  shownFit = numbers.at(-1);
  byId("fit").textContent = "Fit again";
  if (job !== null && job.number === shownFit) byId("headline").focus({ preventScroll: true });
  byId("result").scrollIntoView({ block: "start" });
}

function ended(job) {
  failed = job.number;
  const what = job.task === "fit" ? "The fit" : "Reading";
  if (job.state === "failed") {
    trouble(job.error);
    byId("trouble").scrollIntoView({ block: "nearest" });
    if (job.task === "look") { byId("settings").hidden = false; byId("reading-box").open = true; }
  }
  progress.over({ done: `${what} is done.`, failed: `${what} failed.`, cancelled: "Stopped." }[job.state]);
}

byId("file").addEventListener("change", (event) => {
  const [file] = event.target.files;
  event.target.value = ""; // so that the same file can be chosen again
  if (file) trying(() => take(file)).catch(() => {});
});
byId("settings").addEventListener("submit", (event) => {
  event.preventDefault();
  trying(() => start("fit")).catch(() => {});
});
byId("again").addEventListener("click", () => trying(() => start("look")).catch(() => {}));
byId("cancel").addEventListener("click", () => {
  if (upload) upload.stop();
  else trying(async () => { await post("stop"); await look(); }).catch(() => {});
});

const drop = byId("drop");
for (const kind of ["dragover", "drop"]) addEventListener(kind, (event) => event.preventDefault());
addEventListener("dragover", () => drop.classList.add("over"));
addEventListener("dragleave", (event) => { if (!event.relatedTarget) drop.classList.remove("over"); });
addEventListener("drop", (event) => {
  drop.classList.remove("over");
  const [file] = event.dataTransfer.files;
  if (file) trying(() => take(file)).catch(() => {});
});

// A tab that closes says so; one that is only loaded again is back before its time is up.
addEventListener("pagehide", () => navigator.sendBeacon("leave"));
addEventListener("pageshow", (event) => { if (event.persisted) location.reload(); });

trying(look).catch(() => {}).finally(() => { document.documentElement.dataset.ready = ""; });
