/** A page without a text of its own: its script fetches what there is to read, and to follow. */
import { html, type Route } from "./site.ts";

export const APP_TEXT = "Driftwood and letters that the script brought ashore";

export function singlePageApplication(): Record<string, Route> {
  const items = Array.from({ length: 5 }, (_, at) => ({ title: `Item ${at}`, href: `/app/item/${at}` }));
  const shell = `<!doctype html><html lang="en"><head><title>Application</title></head><body>
<noscript>This application needs JavaScript.</noscript><div id="root"></div><script src="/app/main.js"></script></body></html>`;
  const script = `fetch("/app/items.json").then((answer) => answer.json()).then(({ text, items }) => {
  const root = document.getElementById("root");
  root.innerHTML = "<main><h1>Application</h1><p></p><ul id=items></ul></main>";
  root.querySelector("p").textContent = text;
  for (const { title, href } of items) {
    const link = document.createElement("a");
    link.href = href;
    link.textContent = title;
    document.getElementById("items").append(link);
  }
  document.body.dataset.ready = "yes";
});`;
  const item = (at: number): Route =>
    html(
      `<!doctype html><html lang="en"><title>Item ${at}</title><main><p>This is item ${at} of the application.</p></main></html>`,
    );
  return {
    "/app": html(shell),
    "/app/main.js": { headers: { "Content-Type": "text/javascript" }, body: script },
    "/app/items.json": {
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ text: `${APP_TEXT}. `.repeat(20), items }),
    },
    ...Object.fromEntries(items.map(({ href }, at) => [href, item(at)])),
  };
}
