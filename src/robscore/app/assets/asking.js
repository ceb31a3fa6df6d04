// Requests to the server, all of them relative to the page: the token is in its address.

export class Refused extends Error {}

async function asked(path, options) {
  let answer;
  try {
    answer = await fetch(path, options);
  } catch {
    throw new Refused("The program on this machine has ended. Start it again with robscore app.");
  }
  if (!answer.ok) throw new Refused((await answer.json().catch(() => ({}))).error || `The server refused this (${answer.status}).`);
  return answer.json();
}

export const get = (path) => asked(path);
export const post = (path, content) => asked(path, { method: "POST", body: JSON.stringify(content ?? null) });

// A file on its way, read from the disk as it goes; `told` hears how many bytes of how many have gone.
export function send(file, told) {
  const request = new XMLHttpRequest();
  const over = new Promise((resolve, reject) => {
    request.upload.onprogress = (event) => told(event.loaded, event.total);
    request.onload = () => {
      let answer = {};
      try { answer = JSON.parse(request.responseText); } catch { /* said below */ }
      if (request.status === 200) resolve(answer);
      else reject(new Refused(answer.error || `The file was not taken (${request.status}).`));
    };
    request.onerror = () => reject(new Refused("The file could not be read or sent. Is it still there, and the program running?"));
    request.onabort = () => resolve(null);
  });
  request.open("PUT", `data?name=${encodeURIComponent(file.name)}`);
  request.setRequestHeader("Content-Type", "application/octet-stream");
  request.send(file);
  return { over, stop: () => request.abort() };
}
