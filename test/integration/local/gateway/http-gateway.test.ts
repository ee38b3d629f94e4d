import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { connect } from "node:net";
import { buffer } from "node:stream/consumers";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { expect, onTestFinished, test } from "vitest";
import type { FunctionSpec } from "../../../../infra/topology/spec.ts";
import { startHttpGateway } from "../../../../local/gateway/http-gateway.ts";
import { InvocationError } from "../../../../local/lambda/invocation.ts";
import { testRuntime } from "../../../services/index.ts";
import { unknownKey } from "../../../services/unknown-key.ts";

interface Echo {
  event: Record<string, unknown> & { requestContext: Record<string, unknown> };
  events: number;
  functionName: string;
  remainingMs: number;
}

const fault = (how: string) => ({ method: "POST", body: JSON.stringify({ how }) });
const codeOf = async (response: Response) => [response.status, ((await response.json()) as { code: string }).code];

/** Of the form of a key; whether it is one, the function tells. */
const KEY = unknownKey();

test("a request becomes a REST proxy event and the answer a response", async () => {
  const { runtime } = await testRuntime(["echo"]);
  const response = await fetch(`${runtime.url}/echo/a%20b?x=1&x=2&y=`, { headers: { "X-Some": "thing" } });
  expect(response.status).toBe(200);
  expect(response.headers.getSetCookie()).toEqual(["a=1", "b=2"]);
  const { event, functionName } = (await response.json()) as Echo;
  expect(event).toMatchObject({
    resource: "/echo/{thing}",
    path: "/echo/a%20b",
    httpMethod: "GET",
    pathParameters: { thing: "a b" },
    queryStringParameters: { x: "2", y: "" },
    multiValueQueryStringParameters: { x: ["1", "2"], y: [""] },
    body: null,
    isBase64Encoded: false,
    requestContext: { resourcePath: "/echo/{thing}", identity: { sourceIp: "127.0.0.1" } },
  });
  expect(response.headers.get("x-amzn-requestid")).toBe(event.requestContext["requestId"]);
  expect(functionName).toBe("echo");
});

test("a handler is told how much of its function's time is left", async () => {
  const { runtime } = await testRuntime(["echo"]);
  const remainingMs = async () => ((await (await fetch(`${runtime.url}/echo/a`)).json()) as Echo).remainingMs;
  expect(await remainingMs()).toBeLessThanOrEqual(5_000);
  // where the machine stalls it is less
  await expect.poll(remainingMs).toBeGreaterThan(4_000);
});

test("a fixed path goes before a parameter", async () => {
  const { runtime } = await testRuntime(["echo"]);
  const { event } = (await (await fetch(`${runtime.url}/echo/fixed`)).json()) as Echo;
  expect(event["resource"]).toBe("/echo/fixed");
});

test("binary bodies arrive as base64, text as it is, and both whole", async () => {
  const { runtime } = await testRuntime(["echo"]);
  const post = async (body: Uint8Array<ArrayBuffer> | string, type: string) => {
    const response = await fetch(`${runtime.url}/echo`, { method: "POST", body, headers: { "content-type": type } });
    return ((await response.json()) as Echo).event;
  };
  expect(await post("grüße", "text/plain")).toMatchObject({ body: "grüße", isBase64Encoded: false });
  const bytes = Uint8Array.from({ length: 256 }, (_, index) => index);
  const base64 = Buffer.from(bytes).toString("base64");
  expect(await post(bytes, "application/octet-stream")).toMatchObject({ body: base64, isBase64Encoded: true });
  expect(await post(bytes, "application/json")).toMatchObject({ body: base64, isBase64Encoded: true });
});

test.each([
  ["gzip", gunzipSync],
  ["br", brotliDecompressSync],
  ["identity", (body: Buffer) => body],
] as const)("a long answer comes in %s where that is accepted, a short one as it is", async (accepted, decoded) => {
  const { runtime } = await testRuntime(["echo"]);
  const get = async (path: string) => {
    const asked = request(`${runtime.url}${path}`, { headers: { "accept-encoding": accepted } }).end();
    const [response] = (await once(asked, "response")) as [IncomingMessage];
    return { coding: response.headers["content-encoding"], body: await buffer(response) };
  };
  const long = await get(`/echo/a?text=${"x".repeat(2_000)}`);
  expect(long.coding).toBe(accepted === "identity" ? undefined : accepted);
  expect(JSON.parse(decoded(long.body).toString())).toMatchObject({ functionName: "echo" });
  expect((await get("/nowhere")).coding).toBeUndefined();
});

test("a container is reused, and a second one is started only while the first is busy", async () => {
  const { runtime } = await testRuntime(["echo"]);
  const counts = [];
  for (let index = 0; index < 3; index += 1) {
    counts.push(((await (await fetch(`${runtime.url}/echo/a`)).json()) as Echo).events);
  }
  expect(counts).toEqual([1, 2, 3]);
});

test("unknown paths and methods are refused in the shape of the API's errors", async () => {
  const { runtime } = await testRuntime(["echo"]);
  expect(await codeOf(await fetch(`${runtime.url}/nowhere`))).toEqual([404, "NOT_FOUND"]);
  const wrong = await fetch(`${runtime.url}/echo/a`, { method: "DELETE" });
  expect(wrong.headers.get("allow")).toBe("GET");
  expect(await codeOf(wrong)).toEqual([405, "METHOD_NOT_ALLOWED"]);
  const spider = await fetch(`${runtime.url}/jobs/nowhere`);
  expect(await spider.json()).toMatchObject({ error: "NotFound", error_code: "NOT_FOUND" });
});

test("neither a page from elsewhere nor a name from elsewhere reaches the API or the runtime's own pages", async () => {
  const { runtime } = await testRuntime(["echo"]);
  const { host, port } = new URL(runtime.url);
  const statusOf = (path: string, headers: Record<string, string>) =>
    new Promise((resolve, reject) => {
      const asked = request(runtime.url + path, { headers: { host, ...headers } }, (response) => {
        response.resume();
        resolve(response.statusCode);
      });
      asked.on("error", reject).end();
    });
  for (const path of ["/metrics", "/_local/usage", "/echo/a", "/nowhere"]) {
    const served = path === "/nowhere" ? 404 : 200;
    expect(await statusOf(path, {}), path).toBe(served);
    expect(await statusOf(path, { host: `localhost:${port}` }), path).toBe(served);
    for (const name of ["evil.example", `evil.example:${port}`, "127.0.0.1.evil.example", "[::2]"]) {
      expect(await statusOf(path, { host: name }), name).toBe(403);
    }
    for (const malformed of [`127.0.0.1:${port}/path`, "a b", "127.0.0.1:x", "@"]) {
      expect(await statusOf(path, { host: malformed }), malformed).toBe(400);
    }
    for (const origin of ["https://evil.example", "null", "http://127.0.0.1.evil.example"]) {
      expect(await statusOf(path, { origin }), origin).toBe(403);
    }
    // of somebody's own front end, for the API alone
    const own = path === "/metrics" || path === "/_local/usage" ? 403 : served;
    expect(await statusOf(path, { origin: "http://localhost:3000" }), path).toBe(own);
  }
});

test("what is no path and no header is a bad request", async () => {
  const { runtime } = await testRuntime(["echo"]);
  for (const path of ["/echo/%", "/echo/%zz", "/echo/%c3%28", "/%ff", "/@connections/%"]) {
    expect(await codeOf(await fetch(runtime.url + path)), path).toEqual([400, "BAD_REQUEST"]);
  }
  const { host } = new URL(runtime.url);
  for (const name of ["__proto__", "__PROTO__"]) {
    const status = new Promise((resolve, reject) => {
      const asked = request(`${runtime.url}/echo/a`, { headers: ["host", host, name, "x"] }, (response) => {
        response.resume();
        resolve(response.statusCode);
      });
      asked.on("error", reject).end();
    });
    expect(await status, name).toBe(400);
  }
  for (const name of ["constructor", "toString", "hasOwnProperty"]) {
    expect((await fetch(`${runtime.url}/echo/a?${name}=1&__proto__=1`, { headers: [[name, "x"]] })).status).toBe(200);
  }
});

test("a body above 6 MB is refused by its length alone, and while it arrives where no length is given", async () => {
  const { runtime } = await testRuntime(["echo"]);
  const declared = await new Promise<number | undefined>((resolve, reject) => {
    const headers = { "content-length": String(100 * 1024 * 1024) };
    // nothing of the body is ever sent
    const call = request(`${runtime.url}/echo`, { method: "POST", headers }, (response) =>
      resolve(response.statusCode),
    );
    call.on("error", reject);
    call.flushHeaders();
  });
  expect(declared).toBe(413);
  const streamed = await new Promise<number | undefined>((resolve, reject) => {
    const headers = { "x-api-key": KEY };
    const call = request(`${runtime.url}/echo`, { method: "POST", headers }, (response) => {
      resolve(response.statusCode);
      call.destroy();
    });
    call.on("error", reject);
    call.write(Buffer.alloc(7 * 1024 * 1024));
  });
  expect(streamed).toBe(413);
  const body = Buffer.alloc(7 * 1024 * 1024);
  for (let time = 0; time < 20; time += 1) {
    // whoever sends on sees the answer, and never a connection that was cut
    expect((await fetch(`${runtime.url}/echo`, { method: "POST", body })).status).toBe(413);
  }
  expect((await fetch(`${runtime.url}/echo/still`)).status).toBe(200);
});

test("of a large body without a key nothing is read", async () => {
  const { runtime } = await testRuntime(["echo"]);
  const { hostname, port } = new URL(runtime.url);
  const answerTo = async (headers: string) => {
    const socket = connect(Number(port), hostname);
    onTestFinished(() => void socket.destroy());
    socket.on("error", () => undefined);
    socket.write(`POST /echo HTTP/1.1\r\nHost: localhost\r\n${headers}\r\n`);
    return await new Promise((resolve) => socket.once("data", (bytes) => resolve(String(bytes).slice(9, 12))));
  };
  expect(await answerTo("Content-Length: 6000000\r\n")).toBe("401");
  expect(await answerTo("Transfer-Encoding: chunked\r\n")).toBe("401");
  expect(await answerTo("X-API-Key: any word\r\nContent-Length: 6000000\r\n")).toBe("401");
  const post = (body: string, key?: string) =>
    fetch(`${runtime.url}/echo`, { method: "POST", body, headers: key === undefined ? {} : { "x-api-key": key } });
  expect((await post("small")).status).toBe(200);
  // whether what has its form is a key, the function tells
  const large = await Promise.all(Array.from({ length: 12 }, () => post("x".repeat(3_000_000), KEY)));
  expect(new Set(large.map(({ status }) => status))).toEqual(new Set([200]));
});

test("the connection of one who sends a refused body slowly lasts for as long as it is sent", async () => {
  const { runtime } = await testRuntime(["echo"]);
  const { hostname, port } = new URL(runtime.url);
  const socket = connect(Number(port), hostname);
  onTestFinished(() => void socket.destroy());
  let heard = "";
  socket
    .on("error", () => undefined)
    .on("data", (bytes) => {
      heard += bytes;
    });
  const head = `POST /echo HTTP/1.1\r\nHost: localhost\r\nX-API-Key: ${KEY}\r\nTransfer-Encoding: chunked\r\n\r\n`;
  socket.write(`${head}700000\r\n`);
  socket.write(Buffer.alloc(7 * 1024 * 1024));
  await expect.poll(() => heard).toContain("HTTP/1.1 413");
  socket.write("\r\n");
  for (let piece = 0; piece < 10; piece += 1) {
    await new Promise((resolve) => setTimeout(resolve, 300));
    socket.write("1\r\nx\r\n");
  }
  socket.write("0\r\n\r\nGET /echo/still HTTP/1.1\r\nHost: localhost\r\n\r\n");
  await expect.poll(() => heard.includes("HTTP/1.1 200") || socket.closed).toBe(true);
  expect(heard).toContain("HTTP/1.1 200");
});

test.for([
  ["throw", 502, "BAD_GATEWAY"],
  ["exit", 502, "BAD_GATEWAY"],
  ["uncaught", 502, "BAD_GATEWAY"],
  ["reject", 502, "BAD_GATEWAY"],
  ["no answer", 502, "BAD_GATEWAY"],
  ["not an answer", 502, "BAD_GATEWAY"],
  ["bad header", 502, "BAD_GATEWAY"],
  ["too large", 502, "BAD_GATEWAY"],
  ["fill memory", 502, "BAD_GATEWAY"],
] as const)("a handler that does this is answered for, and the next request works: %s", async ([how, status, code]) => {
  const { runtime } = await testRuntime(["patient"]);
  expect(await codeOf(await fetch(`${runtime.url}/faulty`, fault(how)))).toEqual([status, code]);
  expect((await fetch(`${runtime.url}/faulty`, fault("none"))).status).toBe(200);
});

test.for(["hang", "spin"])("a handler that takes too long is ended, and the next request works: %s", async (how) => {
  const { runtime } = await testRuntime(["faulty"]);
  expect(await codeOf(await fetch(`${runtime.url}/faulty`, fault(how)))).toEqual([504, "GATEWAY_TIMEOUT"]);
  // the one second that it has may be too short for a machine that stalls
  await expect.poll(async () => (await fetch(`${runtime.url}/faulty`, fault("none"))).status).toBe(200);
});

test("a streamed answer keeps status, headers and every byte", async () => {
  const { runtime } = await testRuntime(["streamer"]);
  const response = await fetch(`${runtime.url}/stream?chunks=20`);
  expect(response.status).toBe(206);
  expect(response.headers.get("x-kind")).toBe("streamed");
  const bytes = Buffer.from(await response.arrayBuffer());
  const expected = Buffer.concat(Array.from({ length: 20 }, (_, index) => Buffer.alloc(64 * 1024, String(index % 10))));
  expect(bytes.equals(expected)).toBe(true);
});

test("a slow reader holds the handler back, and one that leaves ends its stream", async () => {
  const { runtime, seen } = await testRuntime(["streamer"]);
  const { hostname, port } = new URL(runtime.url);
  const socket = connect(Number(port), hostname);
  socket.on("error", () => {});
  socket.pause();
  // 1,000 chunks are 64 MB; what fits into the buffers on the way is far less
  socket.write("GET /stream?chunks=1000 HTTP/1.1\r\nHost: localhost\r\n\r\n");
  let before = -1;
  await expect
    .poll(
      async () => {
        const now = (await seen("progress")).length;
        const stalled = now > 0 && now === before;
        before = now;
        return stalled;
      },
      { interval: 200 },
    )
    .toBe(true);
  expect(before).toBeLessThan(500);
  socket.destroy();
  await expect.poll(() => seen("stream")).toEqual([{ closed: true, finished: false }]);
  expect((await fetch(`${runtime.url}/stream?chunks=1`)).status).toBe(206);
});

test("a stream that fails half-way is cut, so that nobody takes it for whole", async () => {
  const { runtime } = await testRuntime(["streamer"]);
  const response = await fetch(`${runtime.url}/stream?chunks=10&fail_at=5`);
  expect(response.status).toBe(206);
  await expect(response.arrayBuffer()).rejects.toThrow();
});

test.each(["type=text/html%3B%01", "type=%D1%84", "status=0", "status=99", "status=1000"])(
  "a stream whose head is none of HTTP is answered 502, and the runtime goes on: %s",
  async (query) => {
    const { runtime } = await testRuntime(["streamer"]);
    expect(await codeOf(await fetch(`${runtime.url}/stream?chunks=50&${query}`))).toEqual([502, "BAD_GATEWAY"]);
    expect((await fetch(`${runtime.url}/stream?chunks=1`)).status).toBe(206);
  },
);

test("it listens on loopback only", async () => {
  const { runtime } = await testRuntime(["echo"]);
  const ports = [runtime.addresses.api, runtime.addresses.sqs, runtime.addresses.dynamodb, runtime.addresses.scheduler];
  for (const address of ports) expect(new URL(address).hostname).toBe("127.0.0.1");
});

test("a connection is kept for longer than the process may be held up, as clients are told", async () => {
  const { runtime } = await testRuntime(["echo"]);
  const response = await fetch(`${runtime.url}/echo/a`);
  await response.text();
  const seconds = Number(/timeout=(\d+)/.exec(response.headers.get("keep-alive") ?? "")?.[1]);
  expect(seconds).toBeGreaterThanOrEqual(60);
});

test("what finds no room is told to come later: 429 on a route with a limit of its own, 503 on others", async () => {
  const spec = {
    name: "few",
    about: "",
    timeoutS: 5,
    memoryMb: 128,
    network: "private",
    localContainers: 1,
    grants: {},
    routes: [
      { method: "GET", path: "/few", throttle: { perSecond: 1, burst: 1 } },
      { method: "GET", path: "/many" },
    ],
  } as const satisfies FunctionSpec;
  const gateway = await startHttpGateway({
    topology: { functions: [spec], queues: [] },
    port: 0,
    invoke: () => Promise.reject(new InvocationError("busy", "all are busy", { functionName: "few", requestId: "" })),
    own: () => false,
    onRequest: () => {},
    onFault: () => {},
  });
  onTestFinished(() => gateway.destroy());
  gateway.open();
  const ask = async (path: string) => {
    const response = await fetch(`http://127.0.0.1:${gateway.port}${path}`);
    return [...(await codeOf(response)), response.headers.get("retry-after")];
  };
  expect(await ask("/few")).toEqual([429, "RATE_LIMITED", "5"]);
  expect(await ask("/many")).toEqual([503, "SERVICE_UNAVAILABLE", "5"]);
});
