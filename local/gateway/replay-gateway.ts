/**
 * The port on which captures are replayed: an origin of its own, as a function URL has. Requests become the events of
 * such a URL, as they came.
 */
import { randomBytes, randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { refusalOf } from "../front/callers.ts";
import { KEPT_CONNECTIONS } from "../front/idle-connections.ts";
import { InvocationError, type StreamSink } from "../lambda/invocation.ts";
import { streamTo } from "./http-gateway.ts";

export interface ReplayGatewayOptions {
  /** 0: any free one. */
  port: number;
  isOpen(): boolean;
  invoke(event: unknown, sink: StreamSink): Promise<unknown>;
  onFault(error: unknown): void;
}

export interface ReplayGateway {
  server: Server;
  url: string;
  close(): void;
  destroy(): void;
}

/** @throws the listen error, e.g. EADDRINUSE */
export async function startReplayGateway(options: ReplayGatewayOptions): Promise<ReplayGateway> {
  const token = randomBytes(18).toString("base64url");
  const server = createServer(KEPT_CONNECTIONS, (request, response) => {
    response.on("error", () => {});
    const target = request.url ?? "/";
    const refusal = refusalOfReplay(request, TOKEN.exec(target)?.[1] === token);
    if (refusal !== undefined) return refuse(response, refusal.status, refusal.message);
    if (!options.isOpen()) return refuse(response, 503, "Starting or stopping: try again");
    // nothing that is sent along has a meaning
    request.resume();
    const sink = streamTo(response, (error) => {
      options.onFault(error);
      refuse(response, 502, "Replay failed: see the log");
    });
    options.invoke(functionUrlEvent(request, target.replace(TOKEN, ""), token), sink).then(
      () => void response.end(),
      (error: unknown) => {
        options.onFault(error);
        if (response.headersSent) return void response.destroy();
        const isBusy = error instanceof InvocationError && error.fault === "busy";
        if (isBusy) response.setHeader("retry-after", "5");
        refuse(
          response,
          isBusy ? 503 : 502,
          isBusy ? "Too many requests at once: try again" : "Replay failed: see the log",
        );
      },
    );
  });
  server.listen(options.port, "127.0.0.1");
  await once(server, "listening");
  return {
    server,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close() {
      server.close();
      server.closeIdleConnections();
    },
    destroy: () => server.closeAllConnections(),
  };
}

/**
 * Replayed pages are of no origin and ask as `null`, as sandboxed pages of anybody do. What these could read of it is
 * given only to who has the token that stands in replayed pages.
 */
function refusalOfReplay(request: IncomingMessage, isKnown: boolean): ReturnType<typeof refusalOf> {
  const { origin, ...headers } = request.headers;
  const isReplayed =
    origin === "null" &&
    (isKnown || request.method === "OPTIONS" || SHOWN_ONLY.test(String(headers["sec-fetch-dest"])));
  return refusalOf(isReplayed ? { headers, rawHeaders: request.rawHeaders } : request);
}

/** Whoever asks for these can run or show them, and not read them. */
const SHOWN_ONLY =
  /^(script|worker|sharedworker|audioworklet|paintworklet|style|font|image|audio|video|track|manifest)$/;

/** The token that scripts put behind the URLs that they ask for, which is none of the archive's. */
const TOKEN = /[?&]archive-token=([\w-]+)$/;

function refuse(response: ServerResponse, status: number, message: string): void {
  if (response.headersSent) return void response.end();
  response.writeHead(status, { "content-type": "text/plain; charset=utf-8", "cache-control": "no-store" });
  response.end(`${message}\n`);
}

/** Payload format 2.0. */
function functionUrlEvent(request: IncomingMessage, target: string, token: string) {
  const [rawPath = "/", ...query] = target.split("?");
  const headers = Object.fromEntries(
    Object.entries(request.headers).map(([name, value]) => [
      name,
      Array.isArray(value) ? value.join(", ") : (value ?? ""),
    ]),
  );
  return {
    version: "2.0",
    routeKey: "$default",
    rawPath,
    rawQueryString: query.join("?"),
    headers: { ...headers, "x-forwarded-proto": "http", "x-archive-token": token },
    requestContext: {
      accountId: "anonymous",
      apiId: "local",
      domainName: request.headers.host ?? "127.0.0.1",
      domainPrefix: "local",
      http: {
        method: request.method ?? "GET",
        path: rawPath,
        protocol: `HTTP/${request.httpVersion}`,
        sourceIp: request.socket.remoteAddress ?? "127.0.0.1",
        userAgent: request.headers["user-agent"] ?? "",
      },
      requestId: randomUUID(),
      routeKey: "$default",
      stage: "$default",
      time: new Date().toISOString(),
      timeEpoch: Date.now(),
    },
    isBase64Encoded: false,
  };
}
