/**
 * The site that the crawlers are measured on: `PAGES` pages of about 12.8 KB (1,900 words) with 30 links each, all
 * reachable from page 0. Runs as a process of its own, so that its time counts for nobody. Prints its port as one JSON
 * line.
 */
import { createServer } from "node:http";
import { renderPage } from "./site-pages.ts";

const PAGES = Number(process.env["PAGES"] ?? "1000");
const pages = Array.from({ length: PAGES }, (_, index) => Buffer.from(renderPage(index, PAGES)));

const server = createServer((request, response) => {
  const path = request.url ?? "/";
  if (path === "/robots.txt") {
    response.writeHead(200, { "content-type": "text/plain" }).end("User-agent: *\nDisallow: /never/\n");
    return;
  }
  const page = pages[path === "/" ? 0 : Number(/^\/page\/(\d+)$/.exec(path)?.[1] ?? -1)];
  if (page === undefined) response.writeHead(404, { "content-type": "text/plain" }).end("no such page");
  else response.writeHead(200, { "content-type": "text/html; charset=utf-8", "content-length": page.length }).end(page);
});
server.listen(0, "127.0.0.1", () => {
  const address = server.address();
  const port = typeof address === "object" ? address?.port : undefined;
  const bytes = pages.reduce((sum, page) => sum + page.length, 0) / pages.length;
  process.stdout.write(`${JSON.stringify({ port, pages: PAGES, bytes_per_page: Math.round(bytes) })}\n`);
});
