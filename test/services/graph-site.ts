/** A site of small pages, each linking to a few others, all reachable from the first. Counts what is asked of it. */
import { createServer } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import { listenOnFreshPort } from "../sites/fresh-port.ts";

export interface GraphSite {
  url: string;
  /** With its port, as ACCESS__ALLOW_HOSTS takes it. */
  host: string;
  /** How often each page was asked for. */
  requestsByPath(): Map<string, number>;
  /** Distinct pages asked for so far. */
  pagesRequested(): number;
  /** Resolves once that many distinct pages were asked for. */
  waitForRequests(pages: number): Promise<void>;
  /** Answers that many more pages; whoever asks for another one waits until `release`. */
  holdAfter(pages: number): void;
  release(): void;
  /** From now on every page says this, so that a reader can tell editions apart. */
  setEdition(edition: string): void;
  close(): Promise<void>;
}

const LINKS_PER_PAGE = 5;

export async function startGraphSite(pages: number): Promise<GraphSite> {
  const requests = new Map<string, number>();
  let edition = "first";
  let answersLeft = Number.POSITIVE_INFINITY;
  const held: (() => void)[] = [];
  const server = createServer((request, response) => {
    const path = request.url ?? "/";
    if (path === "/robots.txt") {
      response.writeHead(200, { "content-type": "text/plain" }).end("User-agent: *\nDisallow:\n");
      return;
    }
    requests.set(path, (requests.get(path) ?? 0) + 1);
    const index = path === "/" ? 0 : Number(/^\/p\/(\d+)$/.exec(path)?.[1] ?? Number.NaN);
    if (!(index < pages)) {
      response.writeHead(404, { "content-type": "text/plain" }).end("no such page");
      return;
    }
    const answer = (): void => {
      response.writeHead(200, { "content-type": "text/html; charset=utf-8" }).end(renderPage(index, pages, edition));
    };
    if (answersLeft <= 0) {
      held.push(answer);
      return;
    }
    answersLeft -= 1;
    answer();
  });
  const host = `127.0.0.1:${await listenOnFreshPort(server)}`;
  return {
    url: `http://${host}/`,
    host,
    requestsByPath: () => new Map(requests),
    pagesRequested: () => requests.size,
    async waitForRequests(wanted) {
      while (requests.size < wanted) await delay(5);
    },
    holdAfter(more) {
      answersLeft = more;
    },
    release() {
      answersLeft = Number.POSITIVE_INFINITY;
      for (const answer of held.splice(0)) answer();
    },
    setEdition(next) {
      edition = next;
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function renderPage(index: number, pages: number, edition: string): string {
  const links: string[] = [];
  for (let at = 1; at <= LINKS_PER_PAGE; at += 1) {
    const child = index * LINKS_PER_PAGE + at;
    if (child < pages) links.push(`<a href="/p/${child}">Page ${child}</a>`);
  }
  if (index > 0) links.push(`<a href="/">Start</a>`);
  return `<!doctype html><html lang="en"><head><title>Page ${index}</title></head><body><main><h1>Page ${index}</h1>
<p>This is the ${edition} edition of page number ${index}. It speaks of lighthouses, tides and the harbour wall, and every page
of this edition says the same so that a reader can tell whether two answers belong together.</p>
<p>${links.join(" ")}</p></main></body></html>`;
}
