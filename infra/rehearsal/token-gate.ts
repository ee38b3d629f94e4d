/**
 * Stands before PostgreSQL as RDS does: TLS alone, and one user who comes in by a token of IAM in place of a password.
 * That the token is of this host, this user and this quarter of an hour is looked at, and its signature where the
 * secret of its key is known; what IAM allows the signer is not.
 */
import { createHash, createHmac, pbkdf2Sync, randomBytes, timingSafeEqual } from "node:crypto";
import { once } from "node:events";
import { connect, createServer, type Server, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import { TLSSocket } from "node:tls";

interface TokenGateOptions {
  /** 0: any that is free. */
  port: number;
  tls: { key: string; cert: string };
  /** PostgreSQL on loopback, without TLS. */
  upstreamPort: number;
  /** The user's password there, where it asks for one. */
  upstreamPassword?: string;
  /** The one that tokens are for. */
  user: string;
  /** By which clients know the gate. */
  hostname: string;
  region: string;
  /** Secret of an access key; where left out signatures are not looked at. */
  secretOf?: (accessKeyId: string) => string | undefined;
  now?: () => number;
  /** Told of each token, and what is wrong with it. */
  judged?: (fault: string | undefined) => void;
}

interface TokenGate extends AsyncDisposable {
  port: number;
}

const SSL_REQUEST = 80_877_103;
const GSS_REQUEST = 80_877_104;
/** How far a request's date may be in the future, in ms. */
const CLOCK_SKEW_MS = 300_000;
const LIFETIME_S = 900;

export async function startTokenGate(options: TokenGateOptions): Promise<TokenGate> {
  const sockets = new Set<Socket>();
  let port = options.port;
  const server: Server = createServer((socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket)).on("error", () => socket.destroy());
    serve(socket, { ...options, port }).catch(() => socket.destroy());
  });
  server.listen(options.port, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (typeof address === "object" && address !== null) port = address.port;
  return {
    port,
    async [Symbol.asyncDispose]() {
      for (const each of sockets) each.destroy();
      server.close();
      await once(server, "close");
    },
  };
}

async function serve(socket: Socket, options: TokenGateOptions): Promise<void> {
  const client = await secured(socket, options);
  const reader = new Reader(client);
  const startup = await reader.startup();
  const user = startupParameters(startup).get("user");
  const upstream = connect(options.upstreamPort, "127.0.0.1");
  upstream.on("error", () => client.destroy());
  client.on("error", () => upstream.destroy()).once("close", () => upstream.destroy());
  if (user === options.user) {
    const fault = faultOf(await askForPassword(client, reader), options);
    options.judged?.(fault);
    if (fault !== undefined) {
      client.end(fatal("28000", `PAM authentication failed for user "${user}"`));
      upstream.destroy();
      return;
    }
  }
  upstream.write(startup);
  if (user === options.user && options.upstreamPassword !== undefined) await signIn(upstream, options.upstreamPassword);
  reader.release((rest) => upstream.write(rest));
  client.pipe(upstream).pipe(client);
}

/** @throws Error where the client does not ask for TLS */
async function secured(socket: Socket, { tls }: TokenGateOptions): Promise<Duplex> {
  const reader = new Reader(socket);
  for (;;) {
    const asked = await reader.startup();
    const code = asked.readInt32BE(4);
    if (code === GSS_REQUEST) {
      socket.write("N");
      continue;
    }
    if (code !== SSL_REQUEST) {
      socket.end(fatal("28000", "no pg_hba.conf entry for this host, no encryption"));
      throw new Error("The client did not ask for TLS");
    }
    reader.release(() => {});
    socket.write("S");
    return new TLSSocket(socket, { isServer: true, ...tls });
  }
}

async function askForPassword(client: Duplex, reader: Reader): Promise<string> {
  const request = Buffer.from("R\0\0\0\x08\0\0\0\x03", "latin1");
  client.write(request);
  const message = await reader.message();
  return message.subarray(5, -1).toString("utf8");
}

/** Signs in with the server by SCRAM-SHA-256 (RFC 7677), up to its word that the client is let in. */
async function signIn(upstream: Socket, password: string): Promise<void> {
  const reader = new Reader(upstream);
  const first = `n=,r=${randomBytes(18).toString("base64")}`;
  await reader.message();
  const opening = Buffer.from(`n,,${first}`);
  const length = Buffer.alloc(4);
  length.writeInt32BE(opening.length);
  upstream.write(passwordMessage(Buffer.from("SCRAM-SHA-256\0"), length, opening));
  const challenge = (await reader.message()).subarray(9).toString("utf8");
  const [, nonce = "", salt = "", rounds] = /^r=(.*),s=(.*),i=(\d+)$/.exec(challenge) ?? [];
  const salted = pbkdf2Sync(password, Buffer.from(salt, "base64"), Number(rounds), 32, "sha256");
  const hmac = (key: Buffer, text: string) => createHmac("sha256", key).update(text).digest();
  const clientKey = hmac(salted, "Client Key");
  const storedKey = createHash("sha256").update(clientKey).digest();
  const last = `c=biws,r=${nonce}`;
  const mask = hmac(storedKey, `${first},${challenge},${last}`);
  const proof = Buffer.from(clientKey.map((byte, at) => byte ^ (mask[at] ?? 0))).toString("base64");
  upstream.write(passwordMessage(Buffer.from(`${last},p=${proof}`)));
  await reader.message();
  reader.release((rest) => upstream.unshift(rest));
}

function passwordMessage(...parts: Buffer[]): Buffer {
  const text = Buffer.concat(parts);
  const head = Buffer.alloc(5);
  head.write("p");
  head.writeInt32BE(text.length + 4, 1);
  return Buffer.concat([head, text]);
}

/** @returns what is wrong with it; undefined where nothing is */
function faultOf(token: string, options: TokenGateOptions): string | undefined {
  const { hostname, port, user, region, secretOf, now = Date.now } = options;
  const url = URL.canParse(`https://${token}`) ? new URL(`https://${token}`) : undefined;
  if (url === undefined || !token.startsWith(`${hostname}:${port}/?`)) return "it is not of this host";
  const of = (name: string) => url.searchParams.get(name) ?? "";
  if (of("Action") !== "connect" || of("DBUser") !== user) return "it is not of this user";
  const [accessKeyId = "", day = "", ...scope] = of("X-Amz-Credential").split("/");
  if (scope.join("/") !== `${region}/rds-db/aws4_request`) return "it is of another service or region";
  const [, y, m, d, h, min, s] = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(of("X-Amz-Date")) ?? [];
  const signedAt = Date.parse(`${y}-${m}-${d}T${h}:${min}:${s}Z`);
  if (Number.isNaN(signedAt) || `${y}${m}${d}` !== day) return "it has no date";
  if (Number(of("X-Amz-Expires")) !== LIFETIME_S) return "it is not for a quarter of an hour";
  if (signedAt > now() + CLOCK_SKEW_MS || signedAt + LIFETIME_S * 1000 < now()) return "it has expired";
  if (of("X-Amz-Algorithm") !== "AWS4-HMAC-SHA256" || of("X-Amz-SignedHeaders") !== "host") return "it is not signed";
  if (secretOf === undefined) return /^[0-9a-f]{64}$/.test(of("X-Amz-Signature")) ? undefined : "it is not signed";
  const secret = secretOf(accessKeyId);
  if (secret === undefined) return "its key is unknown";
  const expected = signatureOf(url, `${hostname}:${port}`, { secret, day, region });
  const given = Buffer.from(of("X-Amz-Signature"), "hex");
  return given.length === expected.length && timingSafeEqual(given, expected) ? undefined : "its signature is wrong";
}

/** Of AWS Signature Version 4 for a request without a body, whose signature is in its query. */
function signatureOf(url: URL, host: string, { secret, day, region }: Record<"secret" | "day" | "region", string>) {
  const encoded = (text: string) =>
    encodeURIComponent(text).replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);
  const query = [...url.searchParams]
    .filter(([name]) => name !== "X-Amz-Signature")
    .map(([name, value]) => `${encoded(name)}=${encoded(value)}`)
    .toSorted()
    .join("&");
  const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");
  const request = ["GET", "/", query, `host:${host}`, "", "host", sha256("")].join("\n");
  const scope = `${day}/${region}/rds-db/aws4_request`;
  const text = ["AWS4-HMAC-SHA256", url.searchParams.get("X-Amz-Date"), scope, sha256(request)].join("\n");
  const hmac = (key: string | Buffer, part: string) => createHmac("sha256", key).update(part).digest();
  const key = [day, region, "rds-db", "aws4_request"].reduce<string | Buffer>(hmac, `AWS4${secret}`);
  return hmac(key, text);
}

function startupParameters(startup: Buffer): Map<string, string> {
  const parts = startup.subarray(8).toString("utf8").split("\0");
  return new Map(parts.flatMap((name, at) => (at % 2 === 0 ? [[name, parts[at + 1] ?? ""] as const] : [])));
}

function fatal(code: string, message: string): Buffer {
  const fields = Buffer.from(`SFATAL\0VFATAL\0C${code}\0M${message}\0\0`);
  const head = Buffer.alloc(5);
  head.write("E");
  head.writeInt32BE(fields.length + 4, 1);
  return Buffer.concat([head, fields]);
}

/** Messages of PostgreSQL's protocol, whole, as a client sends them before it is let in. */
class Reader {
  readonly #stream: Duplex;
  #bytes = Buffer.alloc(0);
  #more: (() => void) | undefined;
  readonly #take = (chunk: Buffer): void => {
    this.#bytes = Buffer.concat([this.#bytes, chunk]);
    this.#more?.();
  };

  constructor(stream: Duplex) {
    this.#stream = stream;
    stream.on("data", this.#take);
  }

  /** Without a type: its length is its first field. */
  startup(): Promise<Buffer> {
    return this.#whole(0);
  }

  message(): Promise<Buffer> {
    return this.#whole(1);
  }

  /**
   * Reads nothing any more.
   * @param rest gets what came and was not read
   */
  release(rest: (bytes: Buffer) => void): void {
    this.#stream.off("data", this.#take);
    this.#stream.pause();
    if (this.#bytes.length > 0) rest(this.#bytes);
  }

  async #whole(lengthAt: number): Promise<Buffer> {
    for (;;) {
      const known = this.#bytes.length >= lengthAt + 4;
      const length = known ? lengthAt + this.#bytes.readInt32BE(lengthAt) : Number.POSITIVE_INFINITY;
      if (this.#bytes.length >= length) {
        const message = this.#bytes.subarray(0, length);
        this.#bytes = this.#bytes.subarray(length);
        return message;
      }
      await new Promise<void>((arrived) => {
        this.#more = arrived;
      });
    }
  }
}
