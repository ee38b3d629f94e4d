import { connect } from "node:net";
import { expect, test } from "vitest";
import { testRuntime } from "../../../../services/index.ts";

interface Ended {
  how: string;
  aborted: boolean;
}

/** Sends a request and reads nothing of the answer. */
function askWithoutReading(url: string, path: string) {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.on("error", () => {});
  socket.pause();
  socket.write(`GET ${path} HTTP/1.1\r\nHost: ${hostname}:${port}\r\n\r\n`);
  return socket;
}

test("a streamed answer has its own headers and those of every answer, and ends whole", async () => {
  const { runtime, seen } = await testRuntime(["stream-api"]);
  const response = await fetch(`${runtime.url}/streams/normal`);
  expect(response.status).toBe(200);
  expect(response.headers.get("content-type")).toBe("text/plain");
  expect(response.headers.get("x-how")).toBe("normal");
  expect(response.headers.get("x-request-id")).toMatch(/^[0-9a-f-]{36}$/);
  expect(await response.text()).toBe("piece 0\npiece 1\npiece 2\n");
  expect(await seen<Ended>("ended")).toMatchObject([{ how: "normal", aborted: false }]);
});

test("a plain answer and an error have their status and headers, in the family's shape", async () => {
  const { runtime } = await testRuntime(["stream-api"]);
  const plain = await fetch(`${runtime.url}/streams/plain`);
  expect(plain.headers.get("content-type")).toBe("application/json");
  expect(await plain.json()).toEqual({ how: "plain" });
  const refused = await fetch(`${runtime.url}/streams/refuse`);
  expect(refused.status).toBe(409);
  expect(refused.headers.get("retry-after")).toBe("7");
  expect(await refused.json()).toEqual({
    error: "Conflict",
    error_code: "CONFLICT",
    message: "Not today",
    request_id: refused.headers.get("x-request-id"),
  });
  const invalid = await fetch(`${runtime.url}/streams/normal?chunks=x&y=1`);
  expect(invalid.status).toBe(400);
  expect(await invalid.json()).toMatchObject({
    error: "ValidationError",
    details: { faults: [{ path: "chunks" }, { path: "y", message: "unknown field" }] },
  });
});

test("the head leaves before the first chunk is there", async () => {
  const { runtime } = await testRuntime(["stream-api"]);
  const leave = new AbortController();
  const response = await fetch(`${runtime.url}/streams/quiet`, { signal: leave.signal });
  expect(response.headers.get("x-how")).toBe("quiet");
  leave.abort();
});

test("a client that leaves ends chunks that are waiting for something else", async () => {
  const { runtime, seen } = await testRuntime(["stream-api"]);
  const leave = new AbortController();
  await fetch(`${runtime.url}/streams/quiet`, { signal: leave.signal });
  leave.abort();
  await expect.poll(() => seen<Ended>("ended")).toMatchObject([{ how: "quiet", aborted: true }]);
  // the one container is free again
  expect((await fetch(`${runtime.url}/streams/normal`)).status).toBe(200);
});

test("a slow reader holds the chunks back, and they end when it leaves", async () => {
  const { runtime, seen } = await testRuntime(["stream-api"]);
  const socket = askWithoutReading(runtime.url, "/streams/large?chunks=1000");
  let before = -1;
  const stalled = async () => {
    const now = (await seen("piece")).length;
    const same = now > 0 && now === before;
    before = now;
    return same;
  };
  await expect.poll(stalled, { interval: 200 }).toBe(true);
  // 1,000 chunks are 64 MB; what fits into the buffers on the way is far less
  expect(before).toBeLessThan(500);
  socket.destroy();
  await expect.poll(() => seen<Ended>("ended")).toMatchObject([{ how: "large", aborted: true }]);
});

test("chunks that fail cut the connection", async () => {
  const { runtime, seen } = await testRuntime(["stream-api"]);
  const response = await fetch(`${runtime.url}/streams/fail`);
  expect(response.status).toBe(200);
  await expect(response.text()).rejects.toThrow();
  expect(await seen<Ended>("ended")).toMatchObject([{ how: "fail", aborted: false }]);
});

test("one request too many is told so after a bounded wait, and is served once a stream has ended", async () => {
  const { runtime } = await testRuntime(["stream-api"]);
  const leave = new AbortController();
  // held on to: a response that nobody has any more is given up with its connection
  const quiet = await fetch(`${runtime.url}/streams/quiet`, { signal: leave.signal });
  const refused = await fetch(`${runtime.url}/streams/normal`);
  expect(refused.status).toBe(503);
  expect(refused.headers.get("retry-after")).toBe("5");
  expect(await refused.json()).toMatchObject({
    code: "SERVICE_UNAVAILABLE",
    error: expect.stringContaining("under way"),
  });
  expect(quiet.bodyUsed).toBe(false);
  const statusOf = async (asked: Promise<Response>) => (await asked).status;
  const waiting = fetch(`${runtime.url}/streams/normal`);
  leave.abort();
  // where the machine takes longer to end the stream than a request waits, the next one is served
  if ((await statusOf(waiting)) !== 200) {
    await expect.poll(() => statusOf(fetch(`${runtime.url}/streams/normal`))).toBe(200);
  }
});
