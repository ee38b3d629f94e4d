/** The deployed system as its users reach it. */
import { createHash } from "node:crypto";
import { request } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import { SendMessageCommand, SQSClient } from "@aws-sdk/client-sqs";
import WebSocket from "ws";
import { CREDENTIALS, type Deployed, ENDPOINT, PORTS } from "./machine.ts";

export class Expectation extends Error {}

export function expect(holds: boolean, complaint: string): asserts holds {
  if (!holds) throw new Expectation(complaint);
}

// biome-ignore lint/suspicious/noExplicitAny: answers are looked into here and nowhere else
export type Answer = any;

export class Api {
  readonly #deployed: Deployed;

  constructor(deployed: Deployed) {
    this.#deployed = deployed;
  }

  /** @throws {Expectation} where the status is not one of success */
  async text(method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<string> {
    const response = await fetch(this.#deployed.url + path, {
      method,
      headers: { authorization: `Bearer ${this.#deployed.key}`, "content-type": "application/json", ...headers },
      body: body === undefined ? null : JSON.stringify(body),
      signal: AbortSignal.timeout(180_000),
    });
    const text = await response.text();
    expect(response.ok, `${method} ${path}: ${response.status} ${text.slice(0, 300)}`);
    return text;
  }

  async json(method: string, path: string, body?: unknown): Promise<Answer> {
    return JSON.parse((await this.text(method, path, body)) || "null");
  }

  crawl(id: string): Promise<Answer> {
    return this.json("GET", `/api/v1/crawl/${id}`);
  }

  async finished(id: string): Promise<Answer> {
    return await until(`job ${id} ends`, 240, async () => {
      const job = await this.crawl(id);
      return ["completed", "failed", "cancelled"].includes(job.status) ? job : undefined;
    });
  }

  /** The first message about a job on its WebSocket, by the host name that it has on AWS. */
  async listen(id: string): Promise<Answer> {
    const host = `${this.#deployed.socketId}.execute-api.${CREDENTIALS.AWS_REGION}.amazonaws.com`;
    const headers = { host, authorization: `Bearer ${this.#deployed.key}` };
    const socket = new WebSocket(`ws://127.0.0.1:${PORTS.emulator}/live?job_id=${id}`, { headers });
    try {
      return await new Promise<Answer>((heard, failed) => {
        setTimeout(() => failed(new Expectation("no message within 60 s")), 60_000).unref();
        socket.on("error", failed).on("message", (data) => {
          const message = JSON.parse(String(data));
          if (message.type !== "ping") heard(message);
        });
      });
    } finally {
      socket.close();
    }
  }
}

/** Asks once a second. */
export async function until<T>(what: string, seconds: number, look: () => Promise<T | undefined>): Promise<T> {
  for (const end = performance.now() + seconds * 1000; performance.now() < end; await delay(1000)) {
    const seen = await look();
    if (seen !== undefined) return seen;
  }
  throw new Expectation(`not within ${seconds} s: ${what}`);
}

/** Goes to the host that a URL names, by the emulator's port. */
export async function reach(url: string): Promise<{ status: number; text: string }> {
  const { host, pathname, search } = new URL(url);
  return await new Promise((answered, failed) => {
    const target = { host: "127.0.0.1", port: PORTS.emulator, path: pathname + search, headers: { host } };
    request(target, async (response) => {
      let text = "";
      for await (const chunk of response.setEncoding("utf8")) text += chunk;
      answered({ status: response.statusCode ?? 0, text });
    })
      .on("error", failed)
      .end();
  });
}

/** Puts a message into a queue, by its name in the topology. */
export async function send(deployment: string, queue: string, message: unknown): Promise<void> {
  const client = new SQSClient({
    endpoint: ENDPOINT,
    region: CREDENTIALS.AWS_REGION,
    credentials: { accessKeyId: CREDENTIALS.AWS_ACCESS_KEY_ID, secretAccessKey: CREDENTIALS.AWS_SECRET_ACCESS_KEY },
  });
  const QueueUrl = `${ENDPOINT}/000000000000/${deployment}-${queue}`;
  await client.send(new SendMessageCommand({ QueueUrl, MessageBody: JSON.stringify(message) }));
  client.destroy();
}

/** A WARC file of one answer, whose text is `text`. */
export function warcOf(url: string, text: string): { bytes: Buffer; sha256: string } {
  const html = `<!doctype html><html lang="en"><title>Kept</title><main><h1>Kept</h1><p>${text}</p></main></html>`;
  const fields = `Content-Type: text/html; charset=utf-8\r\nContent-Length: ${Buffer.byteLength(html)}`;
  const answer = `HTTP/1.1 200 OK\r\n${fields}\r\n\r\n${html}`;
  const head = [
    "WARC/1.1",
    "WARC-Type: response",
    "WARC-Record-ID: <urn:uuid:6f1f8f0a-3f2e-4b5e-9a57-0d5a3c2b1e00>",
    "WARC-Date: 2020-05-17T08:30:00Z",
    `WARC-Target-URI: ${url}`,
    "Content-Type: application/http; msgtype=response",
    `Content-Length: ${Buffer.byteLength(answer)}`,
  ];
  const bytes = Buffer.from(`${head.join("\r\n")}\r\n\r\n${answer}\r\n\r\n`);
  return { bytes, sha256: createHash("sha256").update(bytes).digest("hex") };
}
