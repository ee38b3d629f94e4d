/** What the reference's pages do beyond being read: the list is filtered, and requests are tried. */

/** The console keeps its key under the same name. */
const KEY = "strandline.key";
/** Characters of an answer that are shown. */
const LONGEST = 200_000;

/** Where the API is: this file is in its `docs/`. */
const API = new URL("../", import.meta.url);

const filter = document.querySelector("form.filter");
if (filter) startFilter(filter);
const trial = document.querySelector("form.try");
if (trial) startTrial(trial);

function startFilter(form) {
  const input = form.querySelector("input");
  const found = form.querySelector("output");
  const items = [...document.querySelectorAll(".operations li")];
  const show = () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    const fits = ({ textContent, firstElementChild }) =>
      words.every((word) => `${textContent} ${firstElementChild.href}`.toLowerCase().includes(word));
    for (const item of items) item.hidden = !fits(item);
    for (const group of document.querySelectorAll(".group")) {
      group.hidden = group.querySelector(".operations li:not([hidden])") === null;
    }
    const { length } = items.filter(({ hidden }) => !hidden);
    found.textContent = words.length === 0 ? "" : `${length} of ${items.length} operations`;
  };
  form.addEventListener("submit", (event) => event.preventDefault());
  input.addEventListener("input", show);
  form.hidden = false;
}

function startTrial(form) {
  const { stop, key, keep } = partsOfForm(form);
  const send = form.querySelector("[type=submit]");
  const stored = sessionStorage.getItem(KEY);
  if (key && stored !== null) {
    key.value = stored;
    keep.checked = true;
  }
  let ending;
  stop.addEventListener("click", () => ending?.abort());
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (key) keepKey(key.value, keep.checked);
    ending = new AbortController();
    send.disabled = true;
    stop.disabled = false;
    try {
      await trySending(form, ending.signal);
    } catch (error) {
      say(form, ending.signal.aborted ? "Stopped" : `It could not be sent: ${error.message}`);
    } finally {
      send.disabled = false;
      stop.disabled = true;
    }
  });
  form.hidden = false;
}

function keepKey(value, keep) {
  if (keep && value !== "") sessionStorage.setItem(KEY, value);
  else sessionStorage.removeItem(KEY);
}

const say = (form, text) => {
  form.querySelector(".outcome").textContent = text;
};

async function trySending(form, signal) {
  const output = form.querySelector(".answer");
  output.hidden = true;
  output.textContent = "";
  const { url, headers, body } = requestOf(form);
  const { method } = form.dataset;
  say(form, "Sent: waiting for the answer");
  const started = performance.now();
  const response = await fetch(url, { method, headers, body, signal, cache: "no-store", credentials: "omit" });
  const head = `${response.status} ${response.statusText}`.trim();
  const type = response.headers.get("content-type") ?? "";
  say(
    form,
    `${head}, after ${Math.round(performance.now() - started)} ms, request ${response.headers.get("x-request-id") ?? "without an id"}`,
  );
  output.hidden = false;
  if (!/^text\/|json|xml|javascript/.test(type)) {
    const { size } = await response.blob();
    output.textContent = size === 0 ? "" : `${size} bytes of ${type || "no type"}`;
    return;
  }
  await showText(response, output, /^application\/json\b/.test(type));
}

/** As it comes: an answer may be a stream. */
async function showText(response, output, isJson) {
  let text = "";
  for await (const part of partsOf(response.body.pipeThrough(new TextDecoderStream()))) {
    text += part;
    output.textContent = text.slice(0, LONGEST);
    if (text.length > LONGEST) {
      output.textContent += "\n… and more, which is not shown";
      return;
    }
  }
  if (isJson) output.textContent = JSON.stringify(JSON.parse(text), null, 2);
}

/** Not every browser iterates over streams. */
async function* partsOf(stream) {
  const reader = stream.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    await reader.cancel();
  }
}

function requestOf(form) {
  const { key, body } = partsOfForm(form);
  const headers = {};
  const query = new URLSearchParams();
  let path = form.dataset.path;
  for (const { name, value, dataset } of form.querySelectorAll("[data-in]")) {
    if (dataset.in === "path") path = path.replace(`{${name}}`, encodeURIComponent(value));
    else if (value === "") continue;
    else if (dataset.in === "query") query.append(name, value);
    else headers[name] = value;
  }
  if (key && key.value !== "") headers.authorization = `Bearer ${key.value.trim()}`;
  if (body) headers["content-type"] = "application/json";
  const url = new URL(`.${path}`, API);
  url.search = query.toString();
  return { url, headers, body: body?.value };
}

/** What is no parameter of the request; those may have any name. */
function partsOfForm(form) {
  const part = (name) => form.querySelector(`[data-part=${name}]`);
  return { stop: part("stop"), key: part("key"), keep: part("keep"), body: part("body") };
}
