/** A proxy before the API that does to some requests what networks and busy services do. */
import { once } from "node:events";
import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";

/**
 * - `429`, `503`: refused with `Retry-After: 0`, and not passed on
 * - `lost`: passed on, and the connection is cut instead of its answer
 * - `twice`: passed on twice, and the second answer is given
 * - number: passed on, and cut after so many bytes of the body
 */
export type Fault = "429" | "503" | "lost" | "twice" | number;

export interface FaultyProxy {
  url: string;
  /** For the next requests, one each. */
  faults: Fault[];
  /** Of every request that came, faults among them. */
  seen: { method: string; path: string; headers: IncomingMessage["headers"] }[];
  close(): Promise<void>;
}

export async function faultyProxy(target: string): Promise<FaultyProxy> {
  const faults: Fault[] = [];
  const seen: FaultyProxy["seen"] = [];
  const server = createServer((incoming, response) => {
    seen.push({ method: incoming.method ?? "", path: incoming.url ?? "", headers: incoming.headers });
    serve(target, incoming, response, faults.shift()).catch(() => response.destroy());
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    faults,
    seen,
    async close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

async function serve(
  target: string,
  incoming: IncomingMessage,
  response: ServerResponse,
  fault: Fault | undefined,
): Promise<void> {
  const body = await buffer(incoming);
  if (fault === "429" || fault === "503") {
    response.writeHead(Number(fault), { "content-type": "application/json", "retry-after": "0" });
    return void response.end(JSON.stringify({ error: "Not now", code: "RATE_LIMITED", request_id: "proxy" }));
  }
  if (fault === "twice") (await passedOn(target, incoming, body)).resume();
  const answer = await passedOn(target, incoming, body);
  if (fault === "lost") {
    answer.resume();
    await once(answer, "end");
    return void response.destroy();
  }
  response.writeHead(answer.statusCode ?? 502, answer.headers);
  response.flushHeaders();
  let left = typeof fault === "number" ? fault : Number.POSITIVE_INFINITY;
  response.on("close", () => answer.destroy());
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    response.write(chunk.subarray(0, left));
    left -= chunk.length;
    // what was written is on its way before the cut
    if (left <= 0) return void setImmediate(() => response.destroy());
  }
  response.end();
}

async function passedOn(
  target: string,
  { method, url, headers }: IncomingMessage,
  body: Buffer,
): Promise<IncomingMessage> {
  const { hostname, port, host } = new URL(target);
  const asked = request({ hostname, port, path: url, method, headers: { ...headers, host } });
  asked.end(body);
  const [answer] = (await once(asked, "response")) as [IncomingMessage];
  return answer;
}
