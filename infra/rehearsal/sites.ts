/** What the check crawls, on loopback: the demonstration's handbook, and pages that are made for one question each. */

import { once } from "node:events";
import { createServer, type Server } from "node:http";
import { buffer } from "node:stream/consumers";
import { startSiteServer } from "../../demo/site-server.ts";
import { PORTS } from "./machine.ts";

export interface Delivery {
  signature: string;
  body: Buffer;
}

export interface Sites extends AsyncDisposable {
  /** With a slash at the end. */
  handbook: string;
  host: string;
  /** The first of `length` pages, of which each knows no more than the next. */
  chain: string;
  /** Its text is written by a script; another page for each name behind it. */
  scripted: string;
  /** Says something else after `turn`. */
  notice: string;
  turn(): void;
  /** Where webhooks are told. */
  receiver: string;
  /** What was told there. */
  deliveries: readonly Delivery[];
}

const page = (title: string, text: string): string =>
  `<!doctype html><html lang="en"><head><title>${title}</title></head>
  <body><main><h1>${title}</h1>${text}</main></body></html>`;

const SCRIPT = `const text = "Barnacles settle where the tide wets the stone. ".repeat(30);
document.querySelector("main").innerHTML = "<h1>Drawn late</h1><p>" + text + "</p>";`;

export async function startSites(length: number): Promise<Sites> {
  const handbook = await startSiteServer({ port: PORTS.handbook });
  let isTurned = false;
  const answer = (path: string): string | undefined => {
    const [, kind, name = ""] = /^\/(\w+)\/?(.*)$/.exec(path) ?? [];
    if (kind === "chain") return Number(name) >= 1 && Number(name) <= length ? link(Number(name), length) : undefined;
    if (kind === "scripted") return page(`Scripted ${name}`, `<script>${SCRIPT}</script>`);
    if (kind === "notice") return page("Ferry", ferry(isTurned ? "ten" : "seven"));
    return undefined;
  };
  const deliveries: Delivery[] = [];
  const oddities: Server = createServer(async (request, response) => {
    const { url = "/", method, headers } = request;
    if (method === "POST" && url === "/told") {
      const signature = String(headers["strandline-signature"] ?? "");
      deliveries.push({ signature, body: await buffer(request) });
      return response.writeHead(204).end();
    }
    const html = answer(url);
    response.writeHead(html === undefined ? 404 : 200, { "content-type": "text/html; charset=utf-8" });
    return response.end(html ?? page("Nothing here", ""));
  });
  oddities.listen(PORTS.oddities, "127.0.0.1");
  await once(oddities, "listening");
  const origin = `http://127.0.0.1:${PORTS.oddities}`;
  return {
    handbook: `${handbook.origin}/`,
    host: handbook.host,
    chain: `${origin}/chain/1`,
    scripted: `${origin}/scripted/`,
    notice: `${origin}/notice`,
    receiver: `${origin}/told`,
    deliveries,
    turn: () => {
      isTurned = true;
    },
    async [Symbol.asyncDispose]() {
      oddities.close();
      oddities.closeAllConnections();
      await handbook.close();
    },
  };
}

function link(n: number, length: number): string {
  const text = `<p>Stone ${n} of the causeway stands alone at high tide, and the pilot counts stone${n} before he turns.
    From here only the next one can be seen, and whoever wants to cross has to go on from it.</p>`;
  return page(`Stone ${n}`, text + (n < length ? `<a href="/chain/${n + 1}">on</a>` : ""));
}

const ferry = (hour: string): string =>
  `<p>The last ferry leaves the north pier at ${hour} in the evening, on weekdays as on Sundays, whatever the weather.
   Tickets are sold on board; dogs travel free of charge, and bicycles cost as much as a child does.</p>`;
