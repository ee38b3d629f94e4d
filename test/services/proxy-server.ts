/** Proxies for tests, on 127.0.0.1: HTTP CONNECT and SOCKS5, with the ways in which they fail. */
import { connect, createServer, type Server, type Socket } from "node:net";
import { createServer as createTlsServer } from "node:tls";

/** What goes wrong, instead of a tunnel. */
export type ProxyMisbehaviour =
  | "silent"
  | "garbage"
  | "closes"
  | "closes-mid-handshake"
  | "talks-too-much"
  | "endless"
  /** Tells that it could not reach the target, or that its rules forbid it. */
  | "unreachable"
  | "denies"
  /** Opens the tunnel, and cuts it or keeps silent when something is sent through it. */
  | "cuts-tunnels"
  | "swallows";

export interface TestProxy extends AsyncDisposable {
  url: string;
  port: number;
  /** `address:port` asked for, in order. */
  targets: string[];
  /** Connections that were accepted. */
  connections(): number;
  /** From now on; undefined: it works. */
  misbehave(how: ProxyMisbehaviour | undefined): void;
  close(): Promise<void>;
}

export interface TestProxyOptions {
  kind: "http" | "socks5";
  credentials?: { username: string; password: string };
  misbehaviour?: ProxyMisbehaviour;
  /** Spoken to over TLS. */
  tls?: { key: string; cert: string };
  /** Before the tunnel is opened, in ms. */
  delayMs?: number;
}

export async function startProxy(options: TestProxyOptions): Promise<TestProxy> {
  const { kind, tls } = options;
  const targets: string[] = [];
  const sockets = new Set<Socket>();
  let misbehaviour = options.misbehaviour;
  let connections = 0;
  const serve = (client: Socket): void => {
    connections += 1;
    sockets.add(client);
    client.on("close", () => sockets.delete(client)).on("error", () => undefined);
    const bytes = byteReader(client);
    const open = async (address: string, port: number, answer: string | Buffer): Promise<void> => {
      targets.push(`${address}:${port}`);
      if (misbehaviour === "cuts-tunnels" || misbehaviour === "swallows") {
        client.write(answer);
        bytes.release();
        client.on("data", () => misbehaviour === "cuts-tunnels" && client.destroy());
        return;
      }
      if (options.delayMs !== undefined) await new Promise((resolve) => setTimeout(resolve, options.delayMs));
      const upstream = connect(port, address);
      sockets.add(upstream);
      upstream.on("close", () => client.destroy()).on("error", () => client.destroy());
      client.on("close", () => upstream.destroy());
      upstream.once("connect", () => {
        const more = Buffer.from(misbehaviour === "talks-too-much" ? "and more" : "");
        client.write(Buffer.concat([Buffer.from(answer), more]));
        bytes.release();
        client.pipe(upstream).pipe(client);
      });
    };
    const speak = kind === "http" ? speakHttp : speakSocks;
    speak(client, bytes, options, () => misbehaviour, open).catch(() => client.destroy());
  };
  const server: Server = tls === undefined ? createServer(serve) : createTlsServer(tls, serve);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the proxy has no port");
  const close = async (): Promise<void> => {
    for (const socket of sockets) socket.destroy();
    await new Promise<void>((resolve) => server.close(() => resolve()));
  };
  return {
    url: `${kind === "http" && tls ? "https" : kind}://127.0.0.1:${address.port}`,
    port: address.port,
    targets,
    connections: () => connections,
    misbehave(how) {
      misbehaviour = how;
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

interface ByteReader {
  exactly(length: number): Promise<Buffer>;
  through(end: string): Promise<string>;
  release(): void;
}

function byteReader(socket: Socket): ByteReader {
  let held: Buffer = Buffer.alloc(0);
  let wake: () => void = () => undefined;
  const onData = (chunk: Buffer): void => {
    held = Buffer.concat([held, chunk]);
    wake();
  };
  socket.on("data", onData);
  const until = async (length: () => number): Promise<Buffer> => {
    for (;;) {
      const at = length();
      if (at >= 0 && at <= held.length) {
        const taken = held.subarray(0, at);
        held = held.subarray(at);
        return taken;
      }
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  };
  return {
    exactly: (length) => until(() => length),
    through: async (end) =>
      (await until(() => (held.includes(end) ? held.indexOf(end) + end.length : -1))).toString("latin1"),
    release() {
      socket.off("data", onData);
      if (held.length > 0) socket.unshift(held);
    },
  };
}

type Speak = (
  client: Socket,
  bytes: ByteReader,
  options: TestProxyOptions,
  misbehaviour: () => ProxyMisbehaviour | undefined,
  open: (address: string, port: number, answer: string | Buffer) => Promise<void>,
) => Promise<void>;

const speakHttp: Speak = async (client, bytes, { credentials }, misbehaviour, open) => {
  if (misbehaviour() === "closes") return client.destroy() as unknown as undefined;
  const head = await bytes.through("\r\n\r\n");
  switch (misbehaviour()) {
    case "silent":
      return;
    case "garbage":
      return void client.write("SSH-2.0-OpenSSH_9.9\r\n\r\n");
    case "endless":
      return void client.write(`HTTP/1.1 200 OK\r\nX-Long: ${"x".repeat(40_000)}`);
    case "closes-mid-handshake":
      return void client.end("HTTP/1.1 20");
    case "unreachable":
      return void client.end("HTTP/1.1 502 Bad Gateway\r\n\r\n");
    case "denies":
      return void client.end("HTTP/1.1 403 Forbidden\r\n\r\n");
    default:
  }
  const given = /^proxy-authorization: basic (.*)$/im.exec(head)?.[1]?.trim() ?? "";
  const wanted = credentials && Buffer.from(`${credentials.username}:${credentials.password}`).toString("base64");
  if (wanted !== undefined && given !== wanted) {
    return void client.end("HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic\r\n\r\n");
  }
  const [, address = "", port] = /^CONNECT (.*):(\d+) HTTP\/1\.1\r\n/.exec(head) ?? [];
  await open(address.replace(/^\[(.*)\]$/, "$1"), Number(port), "HTTP/1.1 200 Connection established\r\n\r\n");
};

const speakSocks: Speak = async (client, bytes, { credentials }, misbehaviour, open) => {
  if (misbehaviour() === "closes") return client.destroy() as unknown as undefined;
  const [, count = 0] = await bytes.exactly(2);
  const methods = await bytes.exactly(count);
  switch (misbehaviour()) {
    case "silent":
      return;
    case "garbage":
    case "endless":
      return void client.write("HTTP/1.1 400 Bad Request\r\n\r\n");
    case "closes-mid-handshake":
      return void client.end(Buffer.from([5]));
    default:
  }
  if (credentials === undefined) client.write(Buffer.from([5, 0]));
  else if (!methods.includes(2)) return void client.end(Buffer.from([5, 0xff]));
  else {
    client.write(Buffer.from([5, 2]));
    const [, userLength = 0] = await bytes.exactly(2);
    const username = (await bytes.exactly(userLength)).toString();
    const [secretLength = 0] = await bytes.exactly(1);
    const password = (await bytes.exactly(secretLength)).toString();
    const right = username === credentials.username && password === credentials.password;
    client.write(Buffer.from([1, right ? 0 : 1]));
    if (!right) return void client.end();
  }
  const [, , , type] = await bytes.exactly(4);
  const raw = await bytes.exactly(type === 1 ? 4 : 16);
  const port = (await bytes.exactly(2)).readUInt16BE();
  const reply = (code: number): Buffer => Buffer.from([5, code, 0, 1, 0, 0, 0, 0, 0, 0]);
  if (misbehaviour() === "unreachable") return void client.end(reply(4));
  if (misbehaviour() === "denies") return void client.end(reply(2));
  const address = type === 1 ? raw.join(".") : (raw.toString("hex").match(/.{4}/g) ?? []).join(":");
  await open(address, port, reply(0));
};
