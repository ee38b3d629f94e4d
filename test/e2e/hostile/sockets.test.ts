/** Hostile frames of WebSocket clients: each connection ends by the code of RFC 6455 alone, or is passed over. */
import type { Duplex } from "node:stream";
import { afterAll, beforeAll, expect, it } from "vitest";
import { WebSocket } from "ws";
import type { RunningInstance } from "../../services/instance.ts";
import { sharedRuntime } from "../../services/shared-runtime.ts";
import { html, type Site, startSite } from "../../sites/site.ts";

let runtime: RunningInstance;
let site: Site;
let jobId: string;
const held = Promise.withResolvers<void>();
beforeAll(async () => {
  runtime = await sharedRuntime();
  site = await startSite({ "/": { ...html("<h1>Held</h1>"), after: held.promise } });
  const job = await runtime.call<{ job_id: string }>("POST", "/api/v1/crawl", { url: `${site.origin}/` });
  jobId = job.job_id;
});
afterAll(async () => {
  held.resolve();
  await runtime?.waitForJob(jobId);
  await site?.close();
});

interface Peer {
  socket: WebSocket;
  messages: string[];
  /** The code with which the server ends the connection. */
  closed: Promise<number>;
}

async function open(): Promise<Peer> {
  const socket = new WebSocket(`${runtime.url.replace("http", "ws")}/api/v1/ws/crawl/${jobId}`, {
    headers: { authorization: `Bearer ${runtime.apiKey}` },
    perMessageDeflate: false,
  });
  const messages: string[] = [];
  const closed = Promise.withResolvers<number>();
  socket.on("message", (data) => messages.push(String(data)));
  socket.on("error", () => {});
  socket.once("close", closed.resolve);
  await new Promise((resolve, reject) => socket.once("open", resolve).once("error", reject));
  return { socket, messages, closed: closed.promise };
}

/** The connection of a client, for bytes that no library would send. */
const wireOf = (socket: WebSocket): Duplex => (socket as unknown as { _socket: Duplex })._socket;

const bytes =
  (...values: number[]) =>
  ({ socket }: Peer) =>
    void wireOf(socket).write(Buffer.from(values));

it.each<[string, number, (peer: Peer) => void]>([
  ["a message of 200 kB", 1009, ({ socket }) => socket.send("a".repeat(200_000))],
  [
    "a message of 500 kB in pieces",
    1009,
    ({ socket }) => {
      for (let nth = 0; nth < 50; nth += 1) socket.send("a".repeat(10_000), { fin: false });
    },
  ],
  ["a frame that announces 2^62 bytes", 1009, bytes(0x81, 0xff, 0x40, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)],
  ["text that is no UTF-8", 1007, ({ socket }) => socket.send(Buffer.from([0xff, 0xfe]), { binary: false })],
  ["a frame without a mask", 1002, bytes(0x81, 0x01, 0x61)],
  ["reserved bits", 1002, bytes(0xf1, 0x81, 0, 0, 0, 0, 0x61)],
  ["a reserved opcode", 1002, bytes(0x83, 0x80, 0, 0, 0, 0)],
  ["a ping of 256 bytes", 1002, bytes(0x89, 0xfe, 0x01, 0x00, 0, 0, 0, 0)],
  ["a piece of no message", 1002, bytes(0x80, 0x80, 0, 0, 0, 0)],
])("ends the connection of a client that sends %s", async (_, code, act) => {
  const peer = await open();
  act(peer);
  expect(await peer.closed).toBe(code);
});

it("passes over what it does not know, and answers a ping after a thousand of them", { timeout: 120_000 }, async () => {
  const peer = await open();
  const { socket, messages } = peer;
  socket.send(Buffer.from([0, 1, 255]));
  socket.send("[".repeat(100_000));
  socket.send('{"__proto__":{"type":"ping"}}');
  for (let nth = 0; nth < 1_000; nth += 1) socket.send(`{"action":"subscribe","job_id":"${nth}"}`);
  socket.send('{"type":"ping"}');
  await expect.poll(() => messages.filter((each) => each === '{"type":"pong"}').length, { timeout: 100_000 }).toBe(1);
  socket.terminate();
  await peer.closed;
  expect(await runtime.call("GET", "/api/v1/jobs?limit=1")).toMatchObject({ items: expect.anything() });
});
