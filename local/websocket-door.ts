/** API Gateway's WebSocket API: connections become $connect, $default and $disconnect events, and can be written to. */
import { randomBytes, randomUUID } from "node:crypto";
import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";
import { type RawData, type WebSocket, WebSocketServer } from "ws";
import { BodyTooLarge, readBody } from "./http-body.ts";
import { headersOf, requestContext } from "./http-event.ts";

export interface WebSocketDoor {
  /** Serves the management API: `POST`, `GET`, `DELETE /@connections/ID`. @returns whether the request was for it */
  manage(request: IncomingMessage, response: ServerResponse, url: URL): boolean;
  /** Ends all connections. */
  close(): void;
}

export interface WebSocketOptions {
  server: Server;
  /** Gives the one function an event. */
  invoke(event: unknown): Promise<unknown>;
  onMessage(operation: "WebSocketMessage"): void;
  onFault(error: unknown): void;
}

/** API Gateway's own limit of a message. */
const MAX_MESSAGE_BYTES = 128 * 1024;
/** WebSocket APIs have no paths on AWS; here the reference's path is another way to say `?job_id=`. */
const CRAWL_PATH = /^\/api\/v1\/ws\/crawl\/([^/]+)$/;

interface Connection {
  socket: WebSocket;
  context: Record<string, unknown>;
  connectedAt: number;
  lastActiveAt: number;
}

export function openWebSocketDoor({ server, invoke, onMessage, onFault }: WebSocketOptions): WebSocketDoor {
  const connections = new Map<string, Connection>();
  const sockets = new WebSocketServer({ noServer: true, maxPayload: MAX_MESSAGE_BYTES, perMessageDeflate: false });

  const event = (id: string, request: IncomingMessage, type: "CONNECT" | "MESSAGE" | "DISCONNECT") => {
    const routeKey = { CONNECT: "$connect", MESSAGE: "$default", DISCONNECT: "$disconnect" }[type];
    const time = Date.now();
    return {
      requestContext: {
        ...requestContext(request, randomUUID(), time),
        routeKey,
        eventType: type,
        messageDirection: "IN",
        connectionId: id,
        connectedAt: connections.get(id)?.connectedAt ?? time,
        ...(type === "MESSAGE" ? { messageId: randomUUID() } : {}),
      },
      isBase64Encoded: false,
    };
  };

  const connect = async (request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> => {
    const query = connectQuery(request);
    if (query === undefined) return refuse(socket, 404);
    const id = randomBytes(11).toString("base64url");
    const answer = await invoke({ ...event(id, request, "CONNECT"), ...headersOf(request), ...query });
    const status = (answer as { statusCode?: unknown } | null)?.statusCode;
    if (typeof status === "number" && status >= 300) return refuse(socket, status);
    if (socket.destroyed) return;
    sockets.handleUpgrade(request, socket, head, (webSocket) => {
      const now = Date.now();
      connections.set(id, {
        socket: webSocket,
        context: requestContext(request, id, now),
        connectedAt: now,
        lastActiveAt: now,
      });
      listen(id, webSocket, request);
    });
  };

  const listen = (id: string, socket: WebSocket, request: IncomingMessage): void => {
    // one after the other, as they came
    let work: Promise<unknown> = Promise.resolve();
    const next = (make: () => unknown) => {
      work = work.then(() => invoke(make())).catch(onFault);
    };
    socket.on("message", (data: RawData, isBinary: boolean) => {
      onMessage("WebSocketMessage");
      const connection = connections.get(id);
      if (connection) connection.lastActiveAt = Date.now();
      const bytes = Array.isArray(data) ? Buffer.concat(data) : Buffer.from(data as Buffer);
      const body = bytes.toString(isBinary ? "base64" : "utf8");
      next(() => ({ ...event(id, request, "MESSAGE"), body, isBase64Encoded: isBinary }));
    });
    socket.on("error", onFault);
    socket.on("close", (code, reason) => {
      next(() => {
        const gone = event(id, request, "DISCONNECT");
        const context = { ...gone.requestContext, disconnectStatusCode: code, disconnectReason: reason.toString() };
        return { ...gone, ...headersOf(request), requestContext: context };
      });
      connections.delete(id);
    });
  };

  server.on("upgrade", (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    socket.on("error", () => {});
    connect(request, socket, head).catch((error: unknown) => {
      onFault(error);
      refuse(socket, 500);
    });
  });

  return {
    manage(request, response, url) {
      const [, encoded] = /^\/@connections\/([^/]+)$/.exec(url.pathname) ?? [];
      if (encoded === undefined) return false;
      const id = decodeURIComponent(encoded);
      manageConnection(connections.get(id), request, response, () => onMessage("WebSocketMessage")).catch(
        (error: unknown) => {
          onFault(error);
          response.destroy();
        },
      );
      return true;
    },
    close() {
      for (const { socket } of connections.values()) socket.terminate();
      sockets.close();
    },
  };
}

function connectQuery(request: IncomingMessage) {
  const url = URL.parse(request.url ?? "/", "http://127.0.0.1");
  if (url === null) return undefined;
  const [, jobId] = CRAWL_PATH.exec(url.pathname) ?? [];
  if (jobId === undefined && url.pathname !== "/") return undefined;
  if (jobId !== undefined) url.searchParams.set("job_id", jobId);
  const names = [...new Set(url.searchParams.keys())];
  if (names.length === 0) return {};
  return {
    queryStringParameters: Object.fromEntries(names.map((name) => [name, url.searchParams.getAll(name).at(-1)])),
    multiValueQueryStringParameters: Object.fromEntries(names.map((name) => [name, url.searchParams.getAll(name)])),
  };
}

async function manageConnection(
  connection: Connection | undefined,
  request: IncomingMessage,
  response: ServerResponse,
  onSent: () => void,
): Promise<void> {
  const reply = (status: number, body?: unknown, type?: string) => {
    response.writeHead(status, { "content-type": "application/json", ...(type ? { "x-amzn-errortype": type } : {}) });
    response.end(body === undefined ? "" : JSON.stringify(body));
  };
  if (connection === undefined) return reply(410, { message: "The connection is gone" }, "GoneException");
  if (request.method === "DELETE") {
    connection.socket.close(1000);
    return reply(204);
  }
  if (request.method === "GET") {
    const { connectedAt, lastActiveAt, context } = connection;
    return reply(200, {
      connectedAt: new Date(connectedAt).toISOString(),
      lastActiveAt: new Date(lastActiveAt).toISOString(),
      identity: context["identity"],
    });
  }
  if (request.method !== "POST") return reply(405, { message: "Method not allowed" });
  try {
    const data = await readBody(request, MAX_MESSAGE_BYTES);
    await new Promise<void>((resolve, reject) => {
      connection.socket.send(data, { binary: false }, (error) => (error ? reject(error) : resolve()));
    });
    connection.lastActiveAt = Date.now();
    onSent();
    reply(200);
  } catch (error) {
    if (error instanceof BodyTooLarge) reply(413, { message: "Over 128 KB" }, "PayloadTooLargeException");
    else reply(410, { message: "The connection is gone" }, "GoneException");
  }
}

function refuse(socket: Duplex, status: number): void {
  if (socket.destroyed) return;
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
}
