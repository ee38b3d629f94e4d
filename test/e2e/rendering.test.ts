/** A crawl whose pages are filled in by scripts, and a picture of one of them, on a whole instance. */
import { afterAll, beforeAll, expect, it } from "vitest";
import type { RunningInstance } from "../services/instance.ts";
import { pdfFile } from "../services/pdf-file.ts";
import { sharedRuntime } from "../services/shared-runtime.ts";
import { type Site, startSite } from "../sites/site.ts";

const TEXT = "The lantern keeper wrote down every ship that passed the skerries before the ice came. ".repeat(8);
const SHELL = `<!doctype html><html lang="en"><head><title>Shell</title></head><body><noscript>Enable JavaScript</noscript>
  <div id="root"></div><script src="/app.js"></script></body></html>`;

let site: Site;
let instance: RunningInstance;

beforeAll(async () => {
  const shell = { headers: { "content-type": "text/html" }, body: SHELL };
  site = await startSite({
    "/": shell,
    "/second": shell,
    "/log.pdf": {
      headers: { "content-type": "application/pdf" },
      body: pdfFile([["The ice came early."], ["No ship passed."]]),
    },
    "/form": {
      headers: { "content-type": "text/html" },
      body: `<!doctype html><input><button>Add</button><ul></ul><script>
        document.querySelector("button").onclick = () => { document.querySelector("ul").innerHTML = "<li>" +
          document.querySelector("input").value + " by " + innerWidth + " with " + document.cookie + "</li>" }</script>`,
    },
    "/app.js": {
      headers: { "content-type": "text/javascript" },
      body: `document.title = "Page " + location.pathname; document.querySelector("#root").innerHTML =
        "<main><h1>" + document.title + "</h1><p>${TEXT}</p><a href='/second'>second</a></main>"`,
    },
  });
  instance = await sharedRuntime();
});
afterAll(async () => {
  await site.close();
});

it("finds what scripts wrote, and follows the links that they made", async () => {
  const { job_id } = await instance.call<{ job_id: string }>("POST", "/api/v1/crawl/deep", {
    url: `${site.origin}/`,
    max_depth: 2,
    max_pages: 10,
    config: { render: "auto", rate_limit_rps: 50 },
  });
  const { counts } = await instance.waitForJob(job_id);
  expect(counts).toMatchObject({ discovered: 2, crawled: 2, failed: 0, documents: 2, open: 0 });
  const found = await instance.call<{ results: { title: string }[] }>("POST", "/api/v1/search/keyword", {
    query: "lantern keeper skerries",
  });
  expect(found.results.map(({ title }) => title)).toEqual(expect.arrayContaining(["Page /", "Page /second"]));
  // the browser asks for the script, and never for the page
  expect(site.paths().toSorted()).toEqual(["/", "/app.js", "/app.js", "/second"]);
});

it("takes a picture whose link works", async () => {
  const answer = await instance.call<{ download_url: string; size_bytes: number }>("POST", "/api/v1/screenshot", {
    url: `${site.origin}/second`,
    wait_seconds: 0,
  });
  const picture = await fetch(answer.download_url);
  expect(picture.headers.get("content-type")).toBe("image/png");
  expect((await picture.arrayBuffer()).byteLength).toBe(answer.size_bytes);
});

it("scrapes a page after what is done in it, with its picture", async () => {
  const answer = await instance.call<{ text: string; json: unknown; screenshot: { width: number; height: number } }>(
    "POST",
    "/api/v1/scrape",
    {
      url: `${site.origin}/form`,
      formats: ["text", "json", "screenshot"],
      schema: { fields: { items: { selector: "li", multiple: true } } },
      screenshot: { full_page: false },
      config: {
        render: "always",
        rate_limit_rps: 50,
        viewport: { width: 500, height: 400 },
        cookies: [{ host: new URL(site.origin).hostname, name: "lamp", value: "lit" }],
        actions: [
          { type: "type", selector: "input", text: "Skerry" },
          { type: "click", selector: "button" },
          { type: "wait_for", selector: "li" },
        ],
        include_selectors: ["ul"],
      },
    },
  );
  expect(answer).toMatchObject({
    text: "Skerry by 500 with lamp=lit",
    json: { items: ["Skerry by 500 with lamp=lit"] },
    screenshot: { width: 500, height: 400 },
  });
});

it("reads a PDF page by page", async () => {
  const answer = await instance.call<{ markdown: string }>("POST", "/api/v1/scrape", {
    url: `${site.origin}/log.pdf`,
    formats: ["markdown"],
    config: { pdf: "read", rate_limit_rps: 50 },
  });
  expect(answer.markdown).toBe("## Page 1\n\nThe ice came early.\n\n## Page 2\n\nNo ship passed.");
});
