/** Pages that take all they can get of a browser: each costs its own page alone. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { createUrlGuard } from "../../../../shared/access/url-guard.ts";
import type { Chromium } from "../../../../shared/render/chromium/browser.ts";
import { testChromium } from "../../../integration/render/chromium/browser.ts";
import { openerOf, type PageOpener, scripted } from "../../../integration/render/chromium/hostile-setup.ts";
import { html, type Site, startSite } from "../../../sites/site.ts";

let site: Site;
let chromium: Chromium;
let open: PageOpener["open"];
let opensTo: PageOpener["opensTo"];
beforeAll(async () => {
  site = await startSite({
    "/leave": html(`<meta http-equiv="refresh" content="0; url=http://127.0.0.1:9/refreshed">`),
  });
  chromium = testChromium([], { guard: createUrlGuard({ allowHosts: [site.host] }) });
  ({ open, opensTo } = openerOf(chromium, site.origin, "127.0.0.1:9"));
});
afterAll(async () => {
  await chromium.close();
  await site.close();
});

/** What would never let go of the browser by itself. */
const BURDENS: Record<string, string> = {
  "alerts without end": `<script>for (;;) alert(1)</script>`,
  "prompts, printing and questions at the exit": `<script>addEventListener("beforeunload", (e) => { e.preventDefault(); e.returnValue = "stay" });
    print(); prompt("a"); confirm("b"); print(); location.href = "/leave"</script>`,
  "a million elements": `<script>document.body?.remove(); document.documentElement.append(document.createElement("body"));
    document.body.innerHTML = "<b>x</b>".repeat(1e6)</script>`,
  "memory without end": `<script>const kept = []; for (;;) kept.push(new Array(1e6).fill(Math.random()))</script>`,
  "buffers without end": `<script>const kept = []; for (;;) kept.push(new Uint8Array(5e7).fill(1))</script>`,
  "workers without end": `<script>for (let i = 0; i < 300; i += 1) new Worker(URL.createObjectURL(new Blob(["for (;;);"])))</script>`,
  "a text that doubles": `<script>let text = "x"; for (;;) { text += text; document.title = text }</script>`,
  "history and reloads without end": `<script>setInterval(() => { history.pushState({}, "", "?" + Math.random()); location.reload() }, 1)</script>`,
  "styles that never end": `<style>${":is(".repeat(2_000)}a${")".repeat(2_000)}{}</style><div style="filter:blur(9999px);width:1e9px;height:1e9px">x</div>`,
};

test.each(Object.entries(BURDENS))(
  "%s costs its own page alone: the next one opens",
  { timeout: 120_000 },
  async (_, html) => {
    const started = performance.now();
    await open(html, 5_000).catch((error: Error) => error.message);
    expect(performance.now() - started).toBeLessThan(30_000);
    expect(await opensTo(`<p id="out">still here</p>`, "still here")).toBe("still here");
  },
);

test("a page cannot make a cannon of the browser", async () => {
  // by path: what the first page sent last may come after the second has begun
  const asked = (path: string) => site.paths().filter((one) => one.startsWith(path)).length;
  await open(scripted(`for (let i = 0; i < 800; i += 1) fetch("/shot" + i).catch(() => {})`)).catch(
    () => "its time was up",
  );
  await open(`${`<iframe src="/frame"></iframe>`.repeat(450)}`).catch(() => "its time was up");
  expect(asked("/shot")).toBeGreaterThan(0);
  expect(asked("/shot")).toBeLessThanOrEqual(400);
  expect(asked("/frame")).toBeGreaterThan(0);
  expect(asked("/frame")).toBeLessThanOrEqual(400);
});
