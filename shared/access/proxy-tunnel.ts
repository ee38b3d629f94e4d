/**
 * Opens a connection through a proxy: HTTP CONNECT (RFC 9110 section 9.3.6) or SOCKS5 (RFC 1928) with user name and
 * password (RFC 1929). The proxy is asked for an address that was checked here, never for a name, so that it cannot be
 * led elsewhere. What goes wrong says whose fault it is. Credentials are in no message.
 */
import { isIPv4, isIPv6, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import ipaddr from "ipaddr.js";
import { type ProxyAddress, type ProxyServer, parseProxyUrl, proxyUrl } from "./proxy-server.ts";
import { UrlRefusedError } from "./url-inspection.ts";

export type ProxyFaultCode =
  | "PROXY_BLOCKED"
  | "PROXY_CONNECT_FAILED"
  | "PROXY_TIMEOUT"
  | "PROXY_AUTH_FAILED"
  | "PROXY_PROTOCOL_ERROR"
  | "PROXY_DENIED"
  /** The proxy works, but did not reach the target. */
  | "TARGET_UNREACHABLE";

/** What went wrong at the proxy, or behind it. */
export class ProxyFault extends Error {
  readonly code: ProxyFaultCode;

  constructor(code: ProxyFaultCode, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = "ProxyFault";
    this.code = code;
  }
}

export interface TunnelOptions {
  /** A TCP connection that the URL guard allows; what it throws or emits is the proxy's fault. */
  connect(hostname: string, port: number): Socket;
  /** For everything until the tunnel is open, in ms. */
  timeoutMs: number;
}

/**
 * Opens a tunnel to the target.
 * @param address IPv4 or IPv6, without brackets
 * @throws ProxyFault
 */
export async function openTunnel(
  server: ProxyServer,
  target: { address: string; port: number },
  options: TunnelOptions,
): Promise<Socket> {
  const proxy = parseProxyUrl(server.url);
  if (proxy === undefined) throw new ProxyFault("PROXY_PROTOCOL_ERROR", "The proxy has no valid URL");
  const name = proxyUrl(proxy);
  const deadline = AbortSignal.timeout(options.timeoutMs);
  let socket: Socket | undefined;
  try {
    socket = await connectTo(proxy, options, deadline);
    const reader = createReader(socket, deadline);
    if (proxy.scheme === "http" || proxy.scheme === "https") await connectOverHttp(socket, reader, server, target);
    else await connectOverSocks(socket, reader, server, target);
    reader.finish();
    return socket;
  } catch (error) {
    socket?.destroy();
    if (error instanceof ProxyFault) throw new ProxyFault(error.code, `${name}: ${error.message}`, error.cause);
    if (!deadline.aborted) throw new ProxyFault("PROXY_CONNECT_FAILED", `${name}: ${reasonOf(error)}`, error);
    throw new ProxyFault("PROXY_TIMEOUT", `${name} did not open a connection within ${options.timeoutMs} ms`);
  }
}

function reasonOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return reasonOf(error.errors[0]);
  return error instanceof Error ? error.message : String(error);
}

/** @throws the socket's error, ProxyFault where the guard refuses the proxy, or the deadline's reason */
async function connectTo(proxy: ProxyAddress, options: TunnelOptions, deadline: AbortSignal): Promise<Socket> {
  const { hostname, port, scheme } = proxy;
  let tcp: Socket;
  try {
    tcp = options.connect(hostname, port);
  } catch (error) {
    throw blockedOr(error);
  }
  await opened(tcp, "connect", deadline);
  tcp.setNoDelay(true).setKeepAlive(true, 60_000);
  if (scheme !== "https") return tcp;
  const servername = isIPv4(hostname) || isIPv6(hostname) ? "" : hostname;
  const tls = connectTls({ socket: tcp, servername, host: hostname, ALPNProtocols: ["http/1.1"] });
  await opened(tls, "secureConnect", deadline);
  return tls;
}

async function opened(socket: Socket, event: "connect" | "secureConnect", deadline: AbortSignal): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const fail = (error: unknown): void => {
    socket.destroy();
    reject(blockedOr(error));
  };
  const late = (): void => fail(deadline.reason);
  const closed = (): void => fail(new Error("the proxy hung up"));
  socket.once(event, resolve).on("error", fail).once("close", closed);
  deadline.addEventListener("abort", late);
  try {
    await promise;
  } finally {
    deadline.removeEventListener("abort", late);
    socket.off("error", fail).off("close", closed);
    // an error between two listeners must not end the process
    socket.on("error", () => undefined);
  }
}

const blockedOr = (error: unknown): unknown =>
  error instanceof UrlRefusedError ? new ProxyFault("PROXY_BLOCKED", error.message) : error;

interface Reader {
  /** The next bytes up to and including `end`. */
  through(end: string, most: number): Promise<Buffer>;
  exactly(bytes: number): Promise<Buffer>;
  /**
   * Leaves the socket to whoever uses the tunnel.
   * @throws ProxyFault where there is more than the handshake
   */
  finish(): void;
}

/** Reads as much as a handshake takes, and nothing of what follows. */
function createReader(socket: Socket, deadline: AbortSignal): Reader {
  let held: Buffer = Buffer.alloc(0);

  const more = async (): Promise<void> => {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const gone = (): void => reject(new ProxyFault("PROXY_PROTOCOL_ERROR", "the proxy hung up during the handshake"));
    const late = (): void => reject(deadline.reason);
    const readable = (): void => {
      const chunk = socket.read() as Buffer | null;
      if (chunk === null) return;
      held = Buffer.concat([held, chunk]);
      resolve();
    };
    socket.on("readable", readable).once("end", gone).once("close", gone).once("error", gone);
    deadline.addEventListener("abort", late);
    try {
      deadline.throwIfAborted();
      readable();
      await promise;
    } finally {
      deadline.removeEventListener("abort", late);
      socket.off("readable", readable).off("end", gone).off("close", gone).off("error", gone);
    }
  };
  const take = (bytes: number): Buffer => {
    const taken = held.subarray(0, bytes);
    held = held.subarray(bytes);
    return taken;
  };

  return {
    async through(end, most) {
      for (;;) {
        const at = held.indexOf(end);
        if (at >= 0) return take(at + end.length);
        if (held.length > most)
          throw new ProxyFault("PROXY_PROTOCOL_ERROR", "its answer has no end: it is no HTTP proxy");
        await more();
      }
    },
    async exactly(bytes) {
      while (held.length < bytes) await more();
      return take(bytes);
    },
    finish() {
      // it may come from the site, and no site may put a proxy out of use
      if (held.length > 0) throw new ProxyFault("TARGET_UNREACHABLE", "it or the site sent data that nobody asked for");
    },
  };
}

const MAX_HEAD_BYTES = 16 * 1024;
/** Of a proxy that stands for the server it could not reach. */
const UNREACHED = new Set([500, 502, 503, 504]);

async function connectOverHttp(
  socket: Socket,
  reader: Reader,
  { username, password = "" }: ProxyServer,
  { address, port }: { address: string; port: number },
): Promise<void> {
  const authority = `${isIPv6(address) ? `[${address}]` : address}:${port}`;
  const lines = [`CONNECT ${authority} HTTP/1.1`, `Host: ${authority}`, "Proxy-Connection: keep-alive"];
  if (username !== undefined) {
    lines.push(`Proxy-Authorization: Basic ${Buffer.from(`${username}:${password}`).toString("base64")}`);
  }
  socket.write(`${lines.join("\r\n")}\r\n\r\n`);
  for (;;) {
    const head = (await reader.through("\r\n\r\n", MAX_HEAD_BYTES)).toString("latin1");
    const status = Number(/^HTTP\/1\.[01] (\d{3})(?: |\r\n)/.exec(head)?.[1]);
    if (Number.isNaN(status))
      throw new ProxyFault("PROXY_PROTOCOL_ERROR", "its answer is not HTTP: it is no HTTP proxy");
    if (status >= 200 && status <= 299) return;
    if (status >= 200) throw refusedConnect(status, username !== undefined);
  }
}

function refusedConnect(status: number, withCredentials: boolean): ProxyFault {
  if (status === 407) {
    const why = withCredentials ? "it does not take the user name and password" : "it wants a user name and password";
    return new ProxyFault("PROXY_AUTH_FAILED", `${why} (407)`);
  }
  if (UNREACHED.has(status)) {
    return new ProxyFault("TARGET_UNREACHABLE", `the proxy could not reach the site (it answered ${status})`);
  }
  return new ProxyFault("PROXY_DENIED", `it refuses to connect to the site (it answered ${status})`);
}

const SOCKS_VERSION = 5;
const NO_AUTHENTICATION = 0;
const USER_AND_PASSWORD = 2;
/** RFC 1928 section 6. */
const SOCKS_REPLIES: Record<number, [ProxyFaultCode, string]> = {
  1: ["TARGET_UNREACHABLE", "general failure"],
  2: ["PROXY_DENIED", "connection not allowed by its rules"],
  3: ["TARGET_UNREACHABLE", "network unreachable"],
  4: ["TARGET_UNREACHABLE", "host unreachable"],
  5: ["TARGET_UNREACHABLE", "connection refused"],
  6: ["TARGET_UNREACHABLE", "TTL expired"],
  7: ["PROXY_PROTOCOL_ERROR", "command not supported"],
  8: ["PROXY_PROTOCOL_ERROR", "address type not supported"],
};

async function connectOverSocks(
  socket: Socket,
  reader: Reader,
  { username, password = "" }: ProxyServer,
  { address, port }: { address: string; port: number },
): Promise<void> {
  const methods = username === undefined ? [NO_AUTHENTICATION] : [NO_AUTHENTICATION, USER_AND_PASSWORD];
  socket.write(Buffer.from([SOCKS_VERSION, methods.length, ...methods]));
  const [version, method] = await reader.exactly(2);
  if (version !== SOCKS_VERSION) throw new ProxyFault("PROXY_PROTOCOL_ERROR", "its answer is not SOCKS5");
  if (method === USER_AND_PASSWORD && username !== undefined) {
    const [user, secret] = [Buffer.from(username), Buffer.from(password)];
    socket.write(Buffer.concat([Buffer.from([1, user.length]), user, Buffer.from([secret.length]), secret]));
    const [, verdict] = await reader.exactly(2);
    if (verdict !== 0) throw new ProxyFault("PROXY_AUTH_FAILED", "it does not take the user name and password");
  } else if (method !== NO_AUTHENTICATION) {
    const why = username === undefined ? "it wants a user name and password" : "it takes no user name and password";
    throw new ProxyFault("PROXY_AUTH_FAILED", why);
  }
  const bytes = ipaddr.parse(address).toByteArray();
  const type = bytes.length === 4 ? 1 : 4;
  socket.write(Buffer.from([SOCKS_VERSION, 1, 0, type, ...bytes, port >> 8, port & 0xff]));
  const [answered, reply = 1, , boundType] = await reader.exactly(4);
  if (answered !== SOCKS_VERSION) throw new ProxyFault("PROXY_PROTOCOL_ERROR", "its answer is not SOCKS5");
  if (reply !== 0) {
    const [code, why] = SOCKS_REPLIES[reply] ?? ["PROXY_PROTOCOL_ERROR", `unknown reply ${reply}`];
    throw new ProxyFault(code, `the proxy did not connect to the site: ${why}`);
  }
  // the address that it is bound to, which nobody needs
  const length =
    boundType === 1 ? 4 : boundType === 4 ? 16 : boundType === 3 ? (await reader.exactly(1))[0] : undefined;
  if (length === undefined) throw new ProxyFault("PROXY_PROTOCOL_ERROR", "its answer is not SOCKS5");
  await reader.exactly(length + 2);
}
