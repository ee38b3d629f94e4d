/**
 * The only egress of the browser: a forward proxy on loopback that resolves and checks each target with the URL guard
 * and connects to the very address it checked. The browser itself resolves no names, so that nothing a page does, not a
 * redirect, a WebSocket, a worker or a rebound name, reaches what the guard forbids. Where the page has an egress of
 * its own, the checked address is asked of that proxy, and nothing passes it.
 *
 * Only who knows the page's password may use it, and each page has a budget.
 */
import { createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { type Duplex, Transform } from "node:stream";
import { ProxyFault } from "../../access/proxy-tunnel.ts";
import { type UrlGuard, UrlRefusedError } from "../../access/url-guard.ts";
import { isEgressFault, type PageEgress } from "./page-egress.ts";
import { type Budget, type PageRoute, type ProxiedPage, proxiedPage } from "./proxied-page.ts";

/** What lets one page through, until the next one begins. */
export interface PageAccess {
  readonly user: string;
  readonly password: string;
  /** A plain HTTP URL that the proxy answers by itself: who asks for it has shown the password once. */
  readonly greetingUrl: string;
}

export interface GuardProxy {
  readonly port: number;
  /** Cuts what is still open, and begins to count anew. */
  startPage(budget: Budget, route?: PageRoute): PageAccess;
  /** Cuts what is still open, and lets nobody through. */
  endPage(): void;
  /** Why requests of this page were refused, without what is private in their URLs; each once. */
  readonly refusals: readonly string[];
  close(): Promise<void>;
}

const GREETING_HOST = "greeting.strandline.invalid";
const NOTHING: Budget = { requests: 0, bytes: 0 };
/** Of one connection attempt, and of a pause in it. */
const CONNECT_TIMEOUT_MS = 10_000;
const IDLE_TIMEOUT_MS = 60_000;
/** What belongs to one connection, RFC 9110 section 7.6.1, and to this proxy. */
const HOP_BY_HOP =
  /^(connection|proxy-connection|keep-alive|te|trailer|transfer-encoding|upgrade|proxy-authorization|proxy-authenticate)$/i;

/** Starts the proxy on a free port of loopback. */
export async function startGuardProxy(guard: UrlGuard): Promise<GuardProxy> {
  const open = new Set<Duplex>();
  let page = proxiedPage(NOTHING);

  const track = (socket: Duplex): void => {
    open.add(socket);
    socket.once("close", () => open.delete(socket));
    socket.on("error", () => socket.destroy());
  };
  const cut = (): void => {
    for (const socket of open) socket.destroy();
  };
  const spend = (bytes: number): void => {
    if (page.spendBytes(bytes)) return;
    page.refuse("the page has used up its bytes");
    cut();
  };
  const isKnown = ({ headers }: IncomingMessage): boolean => page.isKnownBy(headers["proxy-authorization"] ?? "");
  /**
   * Opens a connection, and counts.
   * @throws Error that says why not
   */
  const connect = async (hostname: string, port: number): Promise<Socket> => {
    const mine = page;
    mine.spendRequest();
    await mine.confirm(hostOf(hostname, port));
    const { egress } = mine;
    const socket = egress === undefined ? await direct(hostname, port) : await tunnel(egress, hostname, port, mine);
    socket.setTimeout(IDLE_TIMEOUT_MS, () => socket.destroy());
    try {
      await mine.confirm(hostOf(hostname, port));
    } catch (error) {
      socket.destroy();
      throw error;
    }
    return socket;
  };
  /** For what the page sends to a host through a connection that is open. */
  const gate = (mine: ProxiedPage, host: string): Transform =>
    new Transform({
      transform(piece: Buffer, _encoding, done) {
        spend(piece.length);
        mine.confirm(host).then(() => done(null, piece), done);
      },
    });
  const direct = async (hostname: string, port: number): Promise<Socket> => {
    const socket = guard.connect(hostname, port);
    track(socket);
    const late = setTimeout(() => socket.destroy(new Error("connection timed out")), CONNECT_TIMEOUT_MS);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    socket.once("connect", resolve);
    socket.once("error", reject);
    socket.once("close", () => reject(new Error("connection closed")));
    try {
      await promise;
    } finally {
      clearTimeout(late);
    }
    return socket;
  };
  const tunnel = async (egress: PageEgress, hostname: string, port: number, mine: ProxiedPage): Promise<Socket> => {
    // the page may have ended while the name was looked up
    const begun = (socket: Duplex): void => {
      track(socket);
      if (page !== mine) socket.destroy();
    };
    try {
      const socket = await guard.tunnel(egress.server, hostname, port, begun);
      // over TLS it is another socket than the one that was begun
      if (!open.has(socket)) begun(socket);
      mine.hasWorked = true;
      return socket;
    } catch (error) {
      // what was cut here says nothing of the server
      if (error instanceof ProxyFault && page === mine && mine.hasBytesLeft) {
        if (isEgressFault(error, hostname === egress.ownHost, mine.hasWorked)) egress.failed(error.message);
        else mine.refuse(error.message);
      }
      throw error;
    }
  };

  const server = createServer((incoming, answer) => {
    if (!isKnown(incoming)) {
      answer.writeHead(407, { "proxy-authenticate": 'Basic realm="strandline"', connection: "close" }).end();
      return;
    }
    void forward(incoming, answer);
  });

  const forward = async (incoming: IncomingMessage, answer: ServerResponse): Promise<void> => {
    const mine = page;
    const fail = (error: unknown): void => {
      if (error instanceof UrlRefusedError) mine.refuse(error.message);
      if (answer.headersSent) answer.destroy();
      else answer.writeHead(error instanceof UrlRefusedError ? 403 : 502, { connection: "close" }).end();
    };
    try {
      const { url = "", method, rawHeaders } = incoming;
      if (URL.canParse(url) && new URL(url).hostname === GREETING_HOST) {
        answer.writeHead(200, { "content-type": "text/html" }).end("<!doctype html>");
        return;
      }
      const target = guard.inspect(url);
      const port = Number(target.port || 80);
      const socket = await connect(target.hostname, port);
      if (answer.destroyed) {
        socket.destroy();
        return;
      }
      const outgoing = httpRequest({
        createConnection: () => socket,
        method,
        path: target.pathname + target.search,
        headers: endToEnd(rawHeaders),
        setHost: false,
      });
      outgoing.on("error", fail);
      outgoing.on("response", (response) => {
        answer.writeHead(response.statusCode ?? 502, response.statusMessage, endToEnd(response.rawHeaders));
        response.on("data", (chunk: Buffer) => spend(chunk.length));
        response.on("error", () => answer.destroy());
        response.pipe(answer);
      });
      answer.once("close", () => socket.destroy());
      const passing = gate(mine, hostOf(target.hostname, port)).on("error", () => answer.destroy());
      incoming.pipe(passing).pipe(outgoing);
    } catch (error) {
      fail(error);
    }
  };

  server.on("connect", (incoming, client, head) => {
    track(client);
    if (!isKnown(incoming)) {
      client.end('HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic realm="strandline"\r\n\r\n');
      return;
    }
    void join(incoming.url ?? "", client, head);
  });
  const join = async (authority: string, client: Duplex, head: Buffer): Promise<void> => {
    const mine = page;
    let socket: Socket;
    let host: string;
    try {
      const { hostname, port } = new URL(`http://${authority}`);
      // the URL parser drops 80, the default of the scheme it was given
      const target = Number(port || 80);
      host = hostOf(hostname, target);
      socket = await connect(hostname, target);
    } catch (error) {
      const refused = error instanceof UrlRefusedError;
      if (refused) mine.refuse(error.message);
      client.end(`HTTP/1.1 ${refused ? "403 Forbidden" : "502 Bad Gateway"}\r\n\r\n`);
      return;
    }
    if (client.destroyed) {
      socket.destroy();
      return;
    }
    client.write("HTTP/1.1 200 Connection Established\r\n\r\n");
    socket.on("data", (chunk: Buffer) => spend(chunk.length));
    const passing = gate(mine, host).on("error", () => socket.destroy());
    if (head.length > 0) passing.write(head);
    client.pipe(passing).pipe(socket);
    socket.pipe(client);
    socket.once("close", () => client.destroy());
    client.once("close", () => socket.destroy());
  };
  server.on("connection", track);
  server.on("clientError", (_error, socket) => socket.destroy());

  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", resolve);
  });
  const begin = (next: ProxiedPage): ProxiedPage => {
    page = next;
    cut();
    return next;
  };
  // the browser keeps it busy where there is one, and nobody needs it where there is none
  server.unref();
  return {
    port: (server.address() as AddressInfo).port,
    startPage(budget, route) {
      const { user, password } = begin(proxiedPage(budget, route));
      return { user, password, greetingUrl: `http://${GREETING_HOST}/` };
    },
    endPage() {
      begin(proxiedPage(NOTHING));
    },
    get refusals() {
      return [...page.refusals];
    },
    async close() {
      cut();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

/** As in the URLs of either scheme, which leave their own port out. */
const hostOf = (hostname: string, port: number): string =>
  port === 80 || port === 443 ? hostname : `${hostname}:${port}`;

/** @param rawHeaders names and values in turn */
function endToEnd(rawHeaders: readonly string[]): string[] {
  const kept: string[] = [];
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const [name = "", value = ""] = [rawHeaders[at], rawHeaders[at + 1]];
    if (!HOP_BY_HOP.test(name)) kept.push(name, value);
  }
  return kept;
}
