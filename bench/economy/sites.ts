/**
 * `HOSTS` sites of `PAGES` pages each, every one on a port of its own, which is a host of its own. Where `CRAWL_DELAY`
 * is given, their robots.txt asks for so many seconds. Prints their ports as one JSON line.
 */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { renderPage } from "../crawl/site-pages.ts";

const HOSTS = Number(process.env["HOSTS"] ?? "1");
const PAGES = Number(process.env["PAGES"] ?? "100");
const delay = process.env["CRAWL_DELAY"];
const robots = `User-agent: *\nDisallow: /never/\n${delay === undefined ? "" : `Crawl-delay: ${delay}\n`}`;

async function startSite(site: number): Promise<number> {
  const server = createServer((request, response) => {
    const path = request.url ?? "/";
    if (path === "/robots.txt") {
      response.writeHead(200, { "content-type": "text/plain" }).end(robots);
      return;
    }
    const index = Number(/^\/page\/(\d+)$/.exec(path)?.[1] ?? -1);
    if (index < 0 || index >= PAGES) response.writeHead(404, { "content-type": "text/plain" }).end("no such page");
    // written when it is asked for: so many pages of so many sites would fill the memory
    else response.writeHead(200, { "content-type": "text/html; charset=utf-8" }).end(renderPage(index, PAGES, site));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return (server.address() as AddressInfo).port;
}

const ports = await Promise.all(Array.from({ length: HOSTS }, (_, site) => startSite(site)));
process.stdout.write(`${JSON.stringify({ ports })}\n`);
