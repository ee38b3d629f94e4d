/** Answers that browsers, curl, wget, Go, Python's requests and Scrapy read, from a server that speaks in bytes. */
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import fc from "fast-check";
import { request } from "undici";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createAnswerMender } from "../../../shared/access/lenient-answers.ts";
import { createUrlGuard } from "../../../shared/access/url-guard.ts";

const BODY = "<p>harbour";
const LENGTH = "Content-Length: 10\r\n";
const head = (...lines: string[]): string => ["HTTP/1.1 200 OK", ...lines, "", ""].join("\r\n");
const CHUNKS = `a\r\n${BODY}\r\n0\r\n\r\n`;

/** What came, and the headers that are read out of it; the body is the same everywhere. */
const ANSWERS: Record<string, [sent: string, headers: Record<string, unknown>]> = {
  strict: [head("Content-Type: text/html", "Content-Length: 10") + BODY, { "content-type": "text/html" }],
  "100 Continue that nobody asked for": [`HTTP/1.1 100 Continue\r\n\r\n${head("Content-Length: 10")}${BODY}`, {}],
  "two interim answers, one with headers": [
    `HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n${head("Content-Length: 10")}${BODY}`,
    { link: undefined },
  ],
  "folded lines": [
    head("Content-Type: text/html;", " charset=utf-8", "X-A: a", "\t b", "  c", "Content-Length: 10") + BODY,
    { "content-type": "text/html; charset=utf-8", "x-a": "a b c" },
  ],
  "a value that is on the next line": [
    head("Content-Type:", " text/html", "Content-Length:", "\t10") + BODY,
    { "content-type": "text/html" },
  ],
  "space before the first header": [head(" X: y", "Content-Length: 10") + BODY, { x: undefined }],
  "two equal lengths": [head("Content-Length: 10", "A: b", "content-length: 10") + BODY, { a: "b" }],
  "equal lengths in one line": [head("Content-Length: 10, 10") + BODY, { "content-length": "10" }],
  "a length that is no number": [
    head("Content-Length: unknown", "Connection: close") + BODY,
    { "content-length": undefined, "x-archive-orig-content-length": "unknown" },
  ],
  "a negative length": [head("Content-Length: -1") + BODY, { "content-length": undefined }],
  "an empty length": [head("Content-Length:") + BODY, {}],
  "bare LF": [
    `HTTP/1.1 200 OK\nContent-Type: text/html\nContent-Length: 10\n\n${BODY}`,
    { "content-type": "text/html" },
  ],
  "bare LF, folded": [
    `HTTP/1.0 200 OK\nContent-Type: text/html;\n charset=x\n\n${BODY}`,
    { "content-type": "text/html; charset=x" },
  ],
  "LF and CRLF": [`HTTP/1.1 200 OK\nA: b\r\n${LENGTH}\n${BODY}`, { a: "b" }],
  "CRLF and LF": [`HTTP/1.1 200 OK\r\nA: b\nContent-Length: 10\n\r\n${BODY}`, { a: "b" }],
  "CR CR LF": [`HTTP/1.1 200 OK\r\nA: b\r\r\n${LENGTH}\r\n${BODY}`, { a: "b" }],
  "a length beside chunks": [
    head("Content-Length: 3", "Transfer-Encoding: chunked") + CHUNKS,
    { "content-length": undefined, "x-archive-orig-content-length": "3" },
  ],
  "a length behind chunks": [head("Transfer-Encoding: chunked", "Content-Length: 3") + CHUNKS, {}],
  "a transfer coding that is none": [
    head("Transfer-Encoding: identity", "Content-Length: 10") + BODY,
    { "transfer-encoding": undefined, "x-archive-orig-transfer-encoding": "identity" },
  ],
  "chunks that are announced twice": [head("Transfer-Encoding: chunked", "Transfer-Encoding: chunked") + CHUNKS, {}],
  "space before a colon": [
    head("Content-Type : text/html", "Content-Length\t: 10") + BODY,
    { "content-type": "text/html" },
  ],
  "a line without a colon": [head("set up by the harbour office", "Content-Length: 10") + BODY, {}],
  "names that are none": [
    head(": x", "X y: z", "Größe: 1", "a(b): c", "Content-Length: 10", "D: e") + BODY,
    { d: "e" },
  ],
  "control characters": [head("A: a\x01b\x7f\0c", "Content-Length: 10") + BODY, { a: "a b  c" }],
  "Latin-1": [head("A: größe", "Content-Length: 10") + BODY, { a: "größe" }],
  "a status without a phrase": [`HTTP/1.1 200\r\n${LENGTH}\r\n${BODY}`, {}],
  "two spaces before the status": [`HTTP/1.1  200  OK\r\n${LENGTH}\r\n${BODY}`, {}],
  "another version": [`HTTP/2 200 OK\r\n${LENGTH}\r\n${BODY}`, {}],
  "a version in lower case": [`http/1.1 200 OK\r\n${LENGTH}\r\n${BODY}`, {}],
  "a stream's status line": [`ICY 200 OK\r\n${LENGTH}\r\n${BODY}`, {}],
  "empty lines before it": [`\r\n\n\r\n${head("Content-Length: 10")}${BODY}`, {}],
  "empty lines of many kinds before it": [`\r\r\n\r\r\r\n\n${head("Content-Length: 10")}${BODY}`, {}],
  "an empty line of CR CR LF behind it": [`HTTP/1.1 200 OK\r\r\n${LENGTH.trim()}\r\r\n\r\r\n${BODY}`, {}],
  chunks: [`${head("Transfer-Encoding: chunked")}4;a="b"\r\n<p>h\r\n6\r\narbour\r\n0\r\nTrailer: x\r\n\r\n`, {}],
  "sizes of chunks with space behind them": [
    `${head("Transfer-Encoding: chunked")}4  \r\n<p>h\r\n6 \r\narbour\r\n0  \r\n\r\n`,
    {},
  ],
  "chunks with bare LF": [`HTTP/1.1 200 OK\nTransfer-Encoding: Chunked\n\n4\n<p>h\n6\narbour\n0\n\n`, {}],
  "chunks without a line end": [`${head("Transfer-Encoding: chunked")}4\r\n<p>h6\r\narbour0\r\n\r\n`, {}],
  "a trailer that is none": [`${head("Transfer-Encoding: chunked")}a\r\n${BODY}\r\n0\r\nfoo bar\r\n\r\n`, {}],
};

const server = createServer((socket) => {
  socket.on("error", () => undefined);
  socket.on("data", (request) => {
    const name = decodeURIComponent(/^GET \/(\S*)/.exec(request.toString("latin1"))?.[1] ?? "");
    const [kind = "", way] = name.split("/");
    const sent = Buffer.from(ANSWERS[kind]?.[0] ?? FAULTY[kind] ?? "", "latin1");
    if (way !== "slowly") return void (way === "kept" ? socket.write(sent) : socket.end(sent));
    socket.setNoDelay(true);
    const rest = [...sent];
    const next = (): void => {
      const byte = rest.shift();
      if (byte === undefined) return void socket.end();
      socket.write(Buffer.from([byte]), () => setImmediate(next));
    };
    next();
  });
});
const FAULTY: Record<string, string> = {
  "two lengths": head("Content-Length: 10", "Content-Length: 12") + BODY,
  "no HTTP": "SSH-2.0-OpenSSH_9.6\r\n\r\n",
  "a size that is none": `${head("Transfer-Encoding: chunked")}harbour\r\n\r\n`,
  "interim answers without an end": "HTTP/1.1 103 Early Hints\r\n\r\n".repeat(21),
  "long interim answers": `HTTP/1.1 103 Early Hints\r\nLink: ${"x".repeat(10_000)}\r\n\r\n`.repeat(7),
  "empty lines without an end": "\r\n".repeat(40_000),
  "a head without an end": `HTTP/1.1 200 OK\r\nA: ${"x".repeat(20_000)}`,
};

const guard = createUrlGuard({ allowHosts: ["127.0.0.1"] });
const client = guard.dispatcher();
let origin = "";
beforeAll(async () => {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
});
afterAll(async () => {
  await client.destroy();
  server.close();
});

async function ask(
  kind: string,
  way = "",
): Promise<{ status: number; headers: Record<string, unknown>; body: string }> {
  const answer = await request(`${origin}${encodeURIComponent(kind)}${way}`, { dispatcher: client });
  const headers = Object.fromEntries(
    Object.entries(answer.headers).map(([name, value]) => [name, Buffer.from(String(value)).toString()]),
  );
  return { status: answer.statusCode, headers, body: await answer.body.text() };
}

describe("an answer with", () => {
  it.each(Object.keys(ANSWERS))("%s is read", async (kind) => {
    const { status, headers, body } = await ask(kind);
    expect([status, body]).toEqual([200, BODY]);
    for (const [name, value] of Object.entries(ANSWERS[kind]?.[1] ?? {}))
      expect([name, headers[name]]).toEqual([name, value]);
  });

  it.each(Object.keys(ANSWERS))("%s is read byte by byte", async (kind) => {
    expect(await ask(kind, "/slowly")).toMatchObject({ status: 200, body: BODY });
  });

  it.each([
    ["two lengths", "The response has two lengths: 10 and 12 bytes"],
    ["no HTTP", "HTTP/1.1 protocol"],
    ["a size that is none", "chunk size"],
    ["interim answers without an end", "More than 20 interim answers"],
    ["long interim answers", "65536 bytes of them"],
    ["empty lines without an end", "and of empty lines came, and no response yet"],
    ["a head without an end", "Headers Overflow"],
  ])("%s is refused", async (kind, message) => {
    await expect(ask(kind)).rejects.toThrow(message);
  });
});

it("one connection takes answers of all kinds, one after the other", async () => {
  const kinds = Object.keys(ANSWERS).filter((kind) => /length|chunk|interim|LF|fold|strict/.test(kind));
  const ended = /negative|no number|empty length|folded$/;
  for (const kind of [...kinds, ...kinds].filter((each) => !ended.test(each))) {
    expect(await ask(kind, "/kept")).toMatchObject({ status: 200, body: BODY });
  }
});

it("half an empty line before the head is not taken for a body", () => {
  const mender = createAnswerMender(16_384);
  mender.expectHead();
  expect(mender.feed(Buffer.from("\r"))).toHaveLength(0);
  expect(mender.feed(Buffer.from("\nHTTP/1.1 200 OK\n\n")).toString()).toBe("HTTP/1.1 200 OK\r\n\r\n");
});

it("what is mended does not depend on how it arrives", () => {
  const bytes = Object.values(ANSWERS).map(([sent]) => Buffer.from(sent, "latin1"));
  const mended = (pieces: readonly Buffer[]): string => {
    const mender = createAnswerMender(16_384);
    mender.expectHead();
    return Buffer.concat(pieces.map((piece) => mender.feed(piece))).toString("latin1");
  };
  fc.assert(
    fc.property(fc.constantFrom(...bytes), fc.array(fc.nat(200), { maxLength: 8 }), (sent, cuts) => {
      const at = [0, ...cuts.filter((cut) => cut < sent.length).sort((a, b) => a - b), sent.length];
      const pieces = at.slice(1).map((end, index) => sent.subarray(at[index], end));
      expect(mended(pieces)).toBe(mended([sent]));
    }),
  );
});
