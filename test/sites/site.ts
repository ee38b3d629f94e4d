/**
 * A web site for tests, on 127.0.0.1. Routes answer with a plain description of a response, or take over the socket to
 * misbehave as no HTTP library would. Every request is recorded with its time.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { notArrivedBefore, watchArrivals } from "../services/arrivals.ts";
import { listenOnFreshPort } from "./fresh-port.ts";

export interface SiteAnswer {
  status?: number;
  /** Repeated names as several pairs; order and case are sent as they are. */
  headers?: Record<string, string> | readonly (readonly [string, string])[];
  /** Sent with Content-Length unless `chunks` is used. */
  body?: string | Uint8Array;
  /** Sent chunked. */
  chunks?: readonly (string | Uint8Array)[];
  /** Before the answer, in ms. */
  delayMs?: number;
  /** What the answer waits for. */
  after?: Promise<unknown>;
}

/** Writes to the socket by itself; the HTTP server keeps out of it. */
export interface RawAnswer {
  raw(socket: Socket): void | Promise<void>;
}

export type Route = SiteAnswer | RawAnswer | ((request: IncomingMessage) => SiteAnswer | RawAnswer);

export interface RequestLogEntry {
  method: string;
  /** Path and query. */
  path: string;
  /** Epoch ms at which it was handled. */
  at: number;
  /** Epoch ms before which it had not arrived: earlier than `at` where this process was held up. */
  since: number;
  headers: IncomingMessage["headers"];
  rawHeaders: string[];
}

export interface Site extends AsyncDisposable {
  /** `http://127.0.0.1:<port>`, without a final slash. */
  origin: string;
  /** `127.0.0.1:<port>`. */
  host: string;
  requests: RequestLogEntry[];
  /** Paths asked for, in order; without robots.txt unless `all`. */
  paths(all?: boolean): string[];
  /** Adds or replaces routes, by path with query, or else by path. */
  route(routes: Record<string, Route>): void;
  close(): Promise<void>;
}

/** @param fallback answers paths that no route names; 404 where not given */
export async function startSite(
  routes: Record<string, Route> = {},
  fallback: (request: IncomingMessage) => SiteAnswer | RawAnswer = () => ({ status: 404, body: "no such page" }),
): Promise<Site> {
  const table = new Map(Object.entries(routes));
  const requests: RequestLogEntry[] = [];
  watchArrivals();
  const server = createServer((request, response) => {
    const path = inOriginForm(request.url ?? "/");
    const { method = "GET", headers, rawHeaders } = request;
    requests.push({ method, path, at: Date.now(), since: notArrivedBefore(), headers, rawHeaders });
    const route = table.get(path) ?? table.get(path.split("?", 1)[0] ?? "") ?? fallback;
    const answer = typeof route === "function" ? route(request) : route;
    // a client that leaves early is part of some tests
    respond(answer, request, response).catch(() => request.socket.destroy());
  });
  server.keepAliveTimeout = 30_000;
  const port = await listenOnFreshPort(server);
  const close = async (): Promise<void> => {
    server.closeAllConnections();
    await new Promise<void>((resolve) => server.close(() => resolve()));
  };
  return {
    origin: `http://127.0.0.1:${port}`,
    host: `127.0.0.1:${port}`,
    requests,
    paths: (all = false) => requests.map(({ path }) => path).filter((path) => all || path !== "/robots.txt"),
    route(more) {
      for (const [path, route] of Object.entries(more)) table.set(path, route);
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** Servers take the absolute form of proxies' requests as well (RFC 9112, 3.2.2). */
const inOriginForm = (target: string): string => target.replace(/^http:\/\/[^/?]*\/?/i, "/");

async function respond(
  answer: SiteAnswer | RawAnswer,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  if ("raw" in answer) {
    const socket = request.socket;
    response.detachSocket(socket);
    socket.on("error", () => undefined);
    await answer.raw(socket);
    return;
  }
  const { status = 200, headers = {}, body, chunks, delayMs, after } = answer;
  if (delayMs !== undefined) await delay(delayMs);
  await after;
  const pairs = Array.isArray(headers) ? headers : Object.entries(headers);
  const flat = pairs.flat();
  if (chunks !== undefined) {
    response.writeHead(status, flat);
    for (const chunk of chunks) response.write(chunk);
    response.end();
    return;
  }
  const bytes = typeof body === "string" ? Buffer.from(body) : (body ?? Buffer.alloc(0));
  const bodiless = status === 204 || status === 304;
  response.writeHead(status, bodiless ? flat : [...flat, "Content-Length", String(bytes.length)]);
  response.end(bodiless ? undefined : bytes);
}

export const html = (body: string | Uint8Array, headers: Record<string, string> = {}): SiteAnswer => ({
  headers: { "Content-Type": "text/html; charset=utf-8", ...headers },
  body,
});

export const redirect = (location: string, status = 302): SiteAnswer => ({ status, headers: { Location: location } });
