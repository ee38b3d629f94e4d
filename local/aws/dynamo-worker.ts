/** The inside of DynamoDB's thread: `dynalite` without a port, given whole requests. */
import { EventEmitter } from "node:events";
import { parentPort, workerData } from "node:worker_threads";
import dynalite from "dynalite";
import type { DynamoReply, DynamoRequest } from "./dynamo.ts";

if (parentPort === null) throw new Error("This file is the body of a worker thread");
const port = parentPort;
const { directory } = workerData as { directory: string | undefined };

const server = dynalite({
  ...(directory === undefined ? {} : { path: directory }),
  createTableMs: 0,
  deleteTableMs: 0,
  updateTableMs: 0,
});
const [handle] = server.listeners("request") as ((request: EventEmitter, response: Response) => void)[];

/** As much of a response as dynalite uses. */
class Response {
  statusCode = 200;
  readonly #headers: Record<string, string> = {};
  readonly #id: number;
  #ended = false;

  constructor(id: number) {
    this.#id = id;
  }

  setHeader(name: string, value: unknown): void {
    this.#headers[name.toLowerCase()] = String(value);
  }

  end(body = ""): void {
    if (this.#ended) return;
    this.#ended = true;
    const reply: DynamoReply = { id: this.#id, status: this.statusCode, headers: this.#headers, body };
    port.postMessage(reply);
  }
}

port.on("message", ({ id, headers, body }: DynamoRequest) => {
  const response = new Response(id);
  const request = Object.assign(new EventEmitter(), { method: "POST", url: "/", headers });
  try {
    handle?.(request, response);
    if (body !== "") request.emit("data", body);
    request.emit("end");
  } catch {
    // of a request that is not of the shape that DynamoDB asks for; what fails later ends the thread
    response.statusCode = 400;
    response.setHeader("content-type", "application/x-amz-json-1.0");
    response.end(JSON.stringify({ __type: "com.amazon.coral.service#SerializationException" }));
  }
});
port.postMessage({ ready: true } satisfies DynamoReply);
