/** The console's files as the local runtime gives them. */
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { brotliDecompressSync } from "node:zlib";
import { afterAll, beforeAll, expect, it } from "vitest";
import { readConsole } from "../../../local/console/console-files.ts";
import { createConsolePages } from "../../../local/console/console-pages.ts";

const REPLAY = "http://127.0.0.1:9";
const STORAGE = "http://127.0.0.1:8";
let server: Server;
let origin: string;
beforeAll(async () => {
  const pages = createConsolePages({
    others: () => ({ replay: REPLAY, storage: STORAGE }),
    onFault: (error) => {
      throw error;
    },
  });
  server = createServer((request, response) => {
    pages.answer(request, response, new URL(request.url ?? "/", "http://127.0.0.1")).then(
      (answered) => void (answered || response.writeHead(418).end()),
      () => void response.destroy(),
    );
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => void server.close());

const index = async (): Promise<string> => await (await fetch(`${origin}/console/`)).text();
const assetsIn = (html: string): string[] =>
  [...html.matchAll(/(?:href|src)="(assets\/[^"]+)"/g)].map(([, at]) => at ?? "");

it("lets the page run its own scripts alone, ask its own origin and the bucket alone, and frame replay alone", async () => {
  const { headers } = await fetch(`${origin}/console/`);
  const policy = headers.get("content-security-policy") ?? "";
  expect(policy.split("; ")).toEqual(
    expect.arrayContaining([
      "default-src 'none'",
      "script-src 'self'",
      "style-src 'self'",
      `connect-src 'self' ${STORAGE}`,
      `frame-src ${REPLAY}`,
      "frame-ancestors 'none'",
      "require-trusted-types-for 'script'",
      "trusted-types 'none'",
    ]),
  );
  expect(policy).not.toMatch(/unsafe|https?:\/\/(?!127\.0\.0\.1:[89])|\*/);
  expect(headers.get("referrer-policy")).toBe("no-referrer");
  expect(headers.get("x-content-type-options")).toBe("nosniff");
});

it("is asked for again each time, and sent again only where it has changed", async () => {
  const first = await fetch(`${origin}/console/`);
  expect(first.headers.get("cache-control")).toBe("no-cache");
  const etag = first.headers.get("etag") ?? "";
  const again = await fetch(`${origin}/console/`, { headers: { "if-none-match": `"other", W/${etag}` } });
  expect([again.status, await again.text()]).toEqual([304, ""]);
  expect((await fetch(`${origin}/console/`, { headers: { "if-none-match": '"other"' } })).status).toBe(200);
});

it("names files by their content, which are kept for ever", async () => {
  const assets = assetsIn(await index());
  expect(assets.length).toBe(2);
  for (const asset of assets) {
    expect(asset).toMatch(/^assets\/main-[A-Z0-9]{8}\.(js|css)$/);
    const { status, headers } = await fetch(`${origin}/console/${asset}`);
    expect(status).toBe(200);
    expect(headers.get("cache-control")).toBe("public, max-age=31536000, immutable");
    expect(headers.get("content-type")).toMatch(/^text\/(javascript|css); charset=utf-8$/);
  }
});

it("compresses for who takes that, and tells the length of what it sends", async () => {
  const [style = ""] = assetsIn(await index());
  const plain = await fetch(`${origin}/console/${style}`, { headers: { "accept-encoding": "identity" } });
  const text = await plain.text();
  expect(Number(plain.headers.get("content-length"))).toBe(Buffer.byteLength(text));
  const packed = await fetch(`${origin}/console/${style}`, { headers: { "accept-encoding": "br" }, method: "HEAD" });
  expect(packed.headers.get("content-encoding")).toBe("br");
  expect(Number(packed.headers.get("content-length"))).toBeLessThan(Buffer.byteLength(text) / 2);
  const file = (await readConsole()).get(style);
  expect(brotliDecompressSync(file?.br ?? "").toString()).toBe(text);
});

it("answers nothing but its files", async () => {
  const status = async (path: string, init?: RequestInit): Promise<number> =>
    (await fetch(`${origin}${path}`, { redirect: "manual", ...init })).status;
  expect(await status("/console")).toBe(302);
  expect(await status("/console/", { method: "POST" })).toBe(405);
  expect(await status("/console/sources.sha256")).toBe(404);
  expect(await status("/console/assets/../../package.json")).toBe(418);
  expect(await status("/console/%2e%2e%2fpackage.json")).toBe(404);
  expect(await status("/consoles")).toBe(418);
  expect(await status("/api/v1/jobs")).toBe(418);
});
