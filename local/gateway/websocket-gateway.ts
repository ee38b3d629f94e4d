/** API Gateway's WebSocket API: connections become $connect, $default and $disconnect events, and can be written to. */
import { randomBytes, randomUUID } from "node:crypto";
import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";
import { type RawData, type WebSocket, WebSocketServer } from "ws";
import { refusalOf } from "../front/callers.ts";
import { answerFrom, errorAnswer, type ServiceAnswer, type ServiceCall } from "../front/service-front.ts";
import type { SignatureCheck } from "../front/signature.ts";
import { headersOf, requestContext } from "./http-event.ts";

export interface WebSocketGateway {
  /**
   * Serves the management API: `POST`, `GET`, `DELETE /@connections/ID`.
   * @returns whether the request was for it
   */
  manage(request: IncomingMessage, response: ServerResponse, url: URL): boolean;
  /** Ends all connections. */
  close(): void;
}

export interface WebSocketOptions {
  server: Server;
  /** Until then connections are refused with 503. */
  isOpen(): boolean;
  /** Of the callers of the management API. */
  signatures: SignatureCheck;
  /** Gives the one function an event. */
  invoke(event: unknown): Promise<unknown>;
  onMessage(operation: "WebSocketMessage"): void;
  onFault(error: unknown): void;
}

/** API Gateway's own limit of a message. */
const MAX_MESSAGE_BYTES = 128 * 1024;
/** What may wait for a client that does not read, as long as the management API still takes messages for it. */
const MAX_WAITING_BYTES = 256 * 1024;
/** Messages of one client that wait for the handler; the client is read on when there are fewer. */
const MAX_WAITING_MESSAGES = 16;
/** A client that does not answer the closing handshake is cut, at the end of the runtime sooner. */
const CLOSING_MS = 5_000;
const LAST_GOODBYE_MS = 1_000;
/** WebSocket APIs have no paths on AWS; here the reference's path is another way to say `?job_id=`. */
const CRAWL_PATH = /^\/api\/v1\/ws\/crawl\/([^/]+)$/;

interface Connection {
  socket: WebSocket;
  context: Record<string, unknown>;
  connectedAt: number;
  lastActiveAt: number;
}

export function openWebSocketGateway({
  server,
  isOpen,
  signatures,
  invoke,
  onMessage,
  onFault,
}: WebSocketOptions): WebSocketGateway {
  const connections = new Map<string, Connection>();
  /** Which subprotocol the handler chose, if any; the client's list may hold a key that must not come back. */
  const subprotocols = new WeakMap<IncomingMessage, string>();
  const sockets = new WebSocketServer({
    noServer: true,
    maxPayload: MAX_MESSAGE_BYTES,
    perMessageDeflate: false,
    handleProtocols: (_offered, request) => subprotocols.get(request) ?? false,
  });
  let isClosing = false;

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
    const refusal = refusalOf(request, true);
    if (refusal !== undefined) return refuse(socket, refusal.status);
    if (!isOpen()) return refuse(socket, 503);
    const query = connectQuery(request);
    if (query === undefined) return refuse(socket, 404);
    const id = randomBytes(11).toString("base64url");
    const answer = await invoke({ ...event(id, request, "CONNECT"), ...headersOf(request), ...query });
    const { statusCode = 500, headers = {} } = (answer ?? {}) as ConnectAnswer;
    if (statusCode >= 300) return refuse(socket, statusCode);
    if (socket.destroyed) return;
    const [, chosen] = Object.entries(headers).find(([name]) => name.toLowerCase() === "sec-websocket-protocol") ?? [];
    if (chosen !== undefined) subprotocols.set(request, chosen);
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
    let waiting = 0;
    const next = (make: () => unknown) => {
      if (isClosing) return;
      waiting += 1;
      if (waiting === MAX_WAITING_MESSAGES) socket.pause();
      work = work
        .then(() => invoke(make()))
        .then((answer) => reply(socket, answer))
        .catch(onFault)
        .finally(() => {
          waiting -= 1;
          if (socket.isPaused) socket.resume();
        });
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
      const connection = connections.get(decodeURIComponent(encoded));
      void answerFrom(
        {
          service: "execute-api",
          signatures,
          largestBodyBytes: MAX_MESSAGE_BYTES,
          answer: async (call) => manageConnection(connection, call, () => onMessage("WebSocketMessage")),
        },
        request,
        response,
      );
      return true;
    },
    close() {
      isClosing = true;
      const open = [...connections.values()];
      for (const { socket } of open) socket.close(1001, "The runtime stops");
      setTimeout(() => {
        for (const { socket } of open) socket.terminate();
      }, LAST_GOODBYE_MS).unref();
      sockets.close();
    },
  };
}

interface ConnectAnswer {
  statusCode?: number;
  headers?: Record<string, string>;
}

/** The body of an answer goes back to the client, as the route is declared to return responses. */
function reply(socket: WebSocket, answer: unknown): void {
  const body = (answer as { body?: unknown } | null | undefined)?.body;
  if (typeof body === "string" && socket.bufferedAmount < MAX_WAITING_BYTES) socket.send(body);
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

function manageConnection(
  connection: Connection | undefined,
  { method, body }: ServiceCall,
  onSent: () => void,
): ServiceAnswer {
  if (connection === undefined) return GONE;
  const { socket, connectedAt, lastActiveAt, context } = connection;
  if (method === "DELETE") {
    socket.close(1000);
    setTimeout(() => socket.terminate(), CLOSING_MS).unref();
    return { ...DONE, status: 204 };
  }
  if (method === "GET") {
    const described = {
      connectedAt: new Date(connectedAt).toISOString(),
      lastActiveAt: new Date(lastActiveAt).toISOString(),
      identity: context["identity"],
    };
    return { ...DONE, body: JSON.stringify(described) };
  }
  if (method !== "POST") return errorAnswer(405, "MethodNotAllowed", "Method not allowed");
  if (socket.readyState !== socket.OPEN) return GONE;
  if (socket.bufferedAmount > MAX_WAITING_BYTES) {
    return errorAnswer(429, "LimitExceededException", "The client does not read");
  }
  // accepted, not delivered: the same as API Gateway's answer means
  socket.send(body, { binary: false }, () => {});
  connection.lastActiveAt = Date.now();
  onSent();
  return DONE;
}

const DONE: ServiceAnswer = { status: 200, headers: { "content-type": "application/json" }, body: "" };
const GONE = errorAnswer(410, "GoneException", "The connection is gone");

function refuse(socket: Duplex, status: number): void {
  if (socket.destroyed) return;
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
}
