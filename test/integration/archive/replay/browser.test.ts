import { once } from "node:events";
import { type AddressInfo, createServer, type Server } from "node:net";
import { type Browser, type Frame, launch, type Page } from "puppeteer-core";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { TOPOLOGY } from "../../../../infra/topology.ts";
import { type HttpGateway, startHttpGateway } from "../../../../local/gateway/http-gateway.ts";
import { chromiumBinary } from "../../../../shared/render/chromium/binary.ts";
import { type ArchiveSetup, archiveSetup } from "../archive-setup.ts";
import { http, record } from "../warc-records.ts";
import { KINDS, nastySite, SITE, TIMESTAMP, urlOfKind } from "./nasty-site.ts";
import { type ReplayServer, startReplayServer } from "./replay-server.ts";

let setup: ArchiveSetup;
let server: ReplayServer;
let api: HttpGateway;
let trap: Server;
let browser: Browser;
/** What came to where every name but this machine's leads. */
const trapped: string[] = [];
let page: Page;

beforeAll(async () => {
  setup = await archiveSetup();
  await setup.importRecords(nastySite());
  server = await startReplayServer();
  api = await startHttpGateway({
    topology: TOPOLOGY,
    port: 0,
    invoke: async () => ({ statusCode: 200, headers: { "content-type": "application/json" }, body: '{"secret":1}' }),
    own: () => false,
    onRequest: () => {},
    onFault: () => {},
  });
  api.open();
  trap = createServer((socket) => {
    socket.on("error", () => {});
    socket.once("data", (bytes) => {
      trapped.push(bytes.toString("latin1", 0, 200));
      socket.destroy();
    });
  }).listen(0, "127.0.0.1");
  await once(trap, "listening");
  const { executable, env } = await chromiumBinary("");
  browser = await launch({
    executablePath: executable,
    headless: "shell",
    pipe: true,
    env: { ...process.env, ...env },
    args: [
      "--no-sandbox",
      "--disable-gpu",
      "--disable-background-networking",
      "--disable-component-update",
      `--host-resolver-rules=MAP * 127.0.0.1:${(trap.address() as AddressInfo).port}, EXCLUDE 127.0.0.1`,
    ],
  });
  page = await browser.newPage();
  await page.goto(`${server.url}/${TIMESTAMP}/${SITE}/dir/page`, { waitUntil: "domcontentloaded" });
}, 120_000);

afterAll(async () => {
  await browser?.close();
  trap?.close();
  api?.destroy();
  api?.close();
  server?.destroy();
  server?.close();
  await setup?.close();
});

const missing = (): string[] => {
  const paths = [...server.served].filter(([, status]) => status < 300).map(([path]) => path);
  return Object.keys(KINDS).filter((name) => !paths.some((path) => path.endsWith(`/${urlOfKind(name)}`)));
};
const archived = async (): Promise<Frame> => {
  const frame = page.frames().find((each) => each.parentFrame() === page.mainFrame());
  if (frame === undefined) throw new Error("There is no frame with the archived page");
  return frame;
};

it("loads from the archive whatever a page refers to, in whichever way", async () => {
  await vi.waitFor(() => expect(missing()).toEqual([]), { timeout: 60_000, interval: 200 });
}, 90_000);

it("asks nobody else: not for what is archived, nor for what is not, nor where a script would go", async () => {
  const frame = await archived();
  await frame.evaluate("document.getElementById('ping').click()");
  await vi.waitFor(async () => expect(await (await archived()).title()).toBe("Not archived"), { timeout: 20_000 });
  await page.goto(`${server.url}/${TIMESTAMP}/${SITE}/dir/page`, { waitUntil: "domcontentloaded" });
  await (await archived()).evaluate("location.href = 'http://outside.test/location'");
  await vi.waitFor(async () => expect((await archived()).url()).toMatch(/^(chrome-error|about):/), { timeout: 20_000 });
  expect(trapped).toEqual([]);
  expect([...server.served].filter(([path]) => path.includes("outside.test/img.png"))).toEqual([
    [expect.any(String), 404],
  ]);
}, 60_000);

it("follows links within the archive, and marks those that lead nowhere", async () => {
  await page.goto(`${server.url}/${TIMESTAMP}/${SITE}/dir/page`, { waitUntil: "domcontentloaded" });
  const frame = await archived();
  const marked = await frame.$$eval("a[data-archive-missing]", (links) => links.map(({ id }) => id));
  expect(marked).toContain("missing");
  expect(marked).not.toContain("next");
  await frame.evaluate("document.getElementById('next').click()");
  await vi.waitFor(
    async () => expect(await (await archived()).$eval("h1", (heading) => heading.textContent)).toBe("next"),
    { timeout: 20_000 },
  );
  expect((await archived()).url()).toBe(`${server.url}/${TIMESTAMP}mp_/${SITE}/dir/next.html`);
}, 60_000);

it("gives an archived script no origin: it reads neither the API nor anything that is kept", async () => {
  await page.goto(`${server.url}/${TIMESTAMP}/${SITE}/dir/next.html`, { waitUntil: "domcontentloaded" });
  const frame = await archived();
  const found = await frame.evaluate(`(async () => {
    const tried = async (work) => {
      try {
        return await work();
      } catch (error) {
        return error.name;
      }
    };
    return {
      origin: self.origin,
      parent: await tried(() => parent.document.title),
      api: await tried(async () => (await fetch("http://127.0.0.1:${api.port}/api/stats")).status),
      database: await tried(() => new Promise((resolve, reject) => {
        const request = indexedDB.open("x");
        request.onsuccess = () => resolve("opened");
        request.onerror = () => reject(request.error);
      })),
    };
  })()`);
  expect(found).toEqual({ origin: "null", parent: "SecurityError", api: expect.anything(), database: "SecurityError" });
  // asked of the archive, where no such page is, and never of the API
  expect([...server.served].find(([path]) => path.endsWith("/api/stats"))?.[1]).toBe(404);
  const answer = await fetch(`http://127.0.0.1:${api.port}/api/stats`, { headers: { origin: "null" } });
  expect(answer.status).toBe(403);
  expect(answer.headers.get("access-control-allow-origin")).toBeNull();
  expect(await page.cookies(server.url)).toEqual([]);
}, 60_000);

it("keeps a window where it is, whatever is opened in it", async () => {
  const leave = "location = 'http://outside.test/left'";
  const [xhtml, svg] = ["http://www.w3.org/1999/xhtml", "http://www.w3.org/2000/svg"];
  const refresh = (to: string) => `<meta http-equiv="refresh" content="1; url=${to}"><h1>waits</h1>`;
  const at = (path: string, type: string, body: string) =>
    record(http(body, `Content-Type: ${type}\r\n`), { url: `${SITE}/leaves/${path}`, date: "2026-01-01T00:00:00Z" });
  await setup.importRecords([
    at("xhtml", "application/xhtml+xml", `<html xmlns="${xhtml}"><body><script>${leave}</script></body></html>`),
    at("svg", "image/svg+xml", `<svg xmlns="${svg}"><script>${leave}</script></svg>`),
    at("atom", "application/atom+xml", `<feed><script xmlns="${xhtml}">${leave}</script></feed>`),
    at("html", "text/html", `<script>${leave}</script>`),
    at("refresh", "text/html", refresh("http://outside.test/refreshed")),
    at("control", "text/html", refresh(`${SITE}/leaves/arrived`)),
    at("arrived", "text/html", "<h1>arrived</h1>"),
  ]);
  for (const path of ["xhtml", "svg"]) {
    await page.goto(`${server.url}/${TIMESTAMP}/${SITE}/leaves/${path}`, { waitUntil: "domcontentloaded" });
    await vi.waitFor(async () => expect((await archived()).url()).toMatch(/^(chrome-error|about):/), {
      timeout: 20_000,
    });
  }
  for (const path of ["xhtml", "svg", "atom", "html", "refresh"]) {
    const window = await browser.newPage();
    const url = `${server.url}/${TIMESTAMP}id_/${SITE}/leaves/${path}`;
    await window.goto(url, { waitUntil: "load" }).catch(() => undefined);
    // what is begun later, and waits as long, has arrived
    await page.goto(`${server.url}/${TIMESTAMP}/${SITE}/leaves/control`, { waitUntil: "domcontentloaded" });
    await vi.waitFor(async () => expect((await archived()).url()).toContain("leaves/arrived"), { timeout: 20_000 });
    expect([path, window.url()]).toEqual([path, url]);
    await window.close();
  }
  expect(trapped).toEqual([]);
}, 120_000);
