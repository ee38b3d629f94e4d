/** A local HTTP server that answers as a test says, and keeps what it was asked. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";

export interface ReceivedRequest {
  method: string;
  path: string;
  headers: Record<string, string | string[] | undefined>;
  /** Parsed from JSON; undefined where there was none. */
  body: unknown;
}

export interface DoubleAnswer {
  status?: number;
  headers?: Record<string, string>;
  /** Sent as JSON, unless it is a string. */
  body?: unknown;
}

type Given = DoubleAnswer | "hang up" | "stall";

/** @param answer "hang up" closes the connection without an answer; "stall" never answers */
export async function httpDouble(
  answer: (request: ReceivedRequest) => Given | Promise<Given>,
): Promise<{ url: string; requests: ReceivedRequest[] }> {
  const requests: ReceivedRequest[] = [];
  const server = createServer(async (request, response) => {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece);
    const text = Buffer.concat(pieces).toString();
    const received = {
      method: request.method ?? "",
      path: request.url ?? "",
      headers: request.headers,
      body: text === "" ? undefined : (JSON.parse(text) as unknown),
    };
    requests.push(received);
    const given = await answer(received);
    if (given === "stall") return;
    if (given === "hang up") {
      request.socket.destroy();
      return;
    }
    const { status = 200, headers = {}, body = {} } = given;
    response.writeHead(status, { "content-type": "application/json", ...headers });
    response.end(typeof body === "string" ? body : JSON.stringify(body));
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests };
}
