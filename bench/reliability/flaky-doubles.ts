/** What the runtime calls: a vector store that goes away, and a receiver of webhooks that fails. */
import { createServer, type Server, request as send } from "node:http";
import type { AddressInfo } from "node:net";

export interface FlakyProxy {
  url: string;
  /** Refuses and cuts what comes while it is true. */
  isDown: boolean;
  /** Requests that were not let through. */
  failed: number;
  close(): void;
}

/** In front of an HTTP server. */
export async function startFlakyProxy(target: string): Promise<FlakyProxy> {
  const { hostname, port } = new URL(target);
  const server = createServer((request, response) => {
    if (proxy.isDown) {
      proxy.failed += 1;
      if (Math.random() < 0.5) return void request.socket.destroy();
      request.resume();
      return void response.writeHead(503).end("unavailable");
    }
    const onward = send(
      { hostname, port, method: request.method, path: request.url, headers: request.headers },
      (reply) => {
        response.writeHead(reply.statusCode ?? 502, reply.headers);
        reply.pipe(response);
      },
    );
    onward.on("error", () => response.destroy());
    request.pipe(onward);
  });
  const proxy: FlakyProxy = { url: await listen(server), isDown: false, failed: 0, close: () => end(server) };
  return proxy;
}

export interface FlakyReceiver {
  url: string;
  host: string;
  /** Ids of deliveries that were answered with 204. */
  taken: Set<string>;
  /** Requests that were refused or cut. */
  failed: number;
  /** Deliveries that came again after they were taken. */
  repeated: number;
  /** Share of requests that fail. */
  faultRate: number;
  close(): void;
}

export async function startFlakyReceiver(): Promise<FlakyReceiver> {
  const server = createServer((request, response) => {
    request.resume();
    request.on("end", () => {
      if (Math.random() < receiver.faultRate) {
        receiver.failed += 1;
        if (Math.random() < 0.5) request.socket.destroy();
        else response.writeHead(500).end("not now");
        return;
      }
      const id = String(request.headers["strandline-delivery"]);
      if (receiver.taken.has(id)) receiver.repeated += 1;
      receiver.taken.add(id);
      response.writeHead(204).end();
    });
  });
  const url = await listen(server);
  const receiver: FlakyReceiver = {
    url,
    host: new URL(url).host,
    taken: new Set(),
    failed: 0,
    repeated: 0,
    faultRate: 0,
    close: () => end(server),
  };
  return receiver;
}

async function listen(server: Server): Promise<string> {
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function end(server: Server): void {
  server.closeAllConnections();
  server.close();
}
