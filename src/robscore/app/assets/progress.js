// What is being done now: in words, as a bar where it is counted, with the time that is left where that is known.
import { byId, lasting, sized } from "./parts.js";

let said = "";

export function sending(file, done, total) {
  const share = total ? `${sized(done)} of ${sized(total)}` : "";
  shown(`Taking in ${file.name}`, done, total, share);
}

export function working(job) {
  const counts = job.total ? ` ${job.done.toLocaleString("en")} of ${job.total.toLocaleString("en")}` : "";
  const left = job.left === null ? "" : `, about ${lasting(job.left)} left in this step`;
  const step = job.step.charAt(0).toUpperCase() + job.step.slice(1);
  shown(`${step}${counts}`, job.done, job.total, `${lasting(job.seconds)} so far${left}`, step);
}

function shown(words, done, total, times, step = words) {
  byId("work").hidden = false;
  byId("step").textContent = words;
  byId("times").textContent = times;
  const bar = byId("bar");
  if (total) { bar.max = total; bar.value = done; } else bar.removeAttribute("value");
  if (step !== said) tell(step); // to those who listen, each step once
}

export function tell(words) {
  said = words;
  byId("told").textContent = words;
}

export function over(words) {
  byId("work").hidden = true;
  tell(words);
}
