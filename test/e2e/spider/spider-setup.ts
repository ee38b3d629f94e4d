/** What a test asks of a runtime's spider. */
import { recordChecks } from "../../services/documented-answers.ts";
import type { RunningInstance } from "../../services/instance.ts";

export interface Spider {
  instance: RunningInstance;
  /** POST /spider/crawl, fast and with one seed, unless `body` says otherwise. */
  crawl(query: string, body: Record<string, unknown>, init?: RequestInit): Promise<Response>;
  get(path: string, init?: RequestInit): Promise<Response>;
}

export function spiderOf(instance: RunningInstance): Spider {
  const send = (path: string, { headers, ...init }: RequestInit = {}) =>
    fetch(instance.url + path, {
      ...init,
      headers: { authorization: `Bearer ${instance.apiKey}`, ...(headers as object) },
    });
  return {
    instance,
    crawl: (query, body, init = {}) =>
      send(`/spider/crawl?${query}`, {
        method: "POST",
        body: JSON.stringify({ config: { rate_limit_rps: 2_000 }, ...body }),
        ...init,
        headers: { "content-type": "application/json", ...(init.headers as object) },
      }),
    get: (path, init) => send(path, init),
  };
}

// biome-ignore lint/suspicious/noExplicitAny: records are compared, never trusted
export type StreamRecord = { type: string; data: any };

/** Line by line, and every line must be JSON. */
export async function* ndjson(response: Response): AsyncGenerator<StreamRecord> {
  for await (const line of lines(response)) yield recordOf(response, line);
}

/** @throws Error where the OpenAPI document describes no such record of the stream */
function recordOf(response: Response, json: string): StreamRecord {
  const record = JSON.parse(json) as StreamRecord;
  recordChecks.get(response)?.(record);
  return record;
}

async function* lines(response: Response): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
    const parts = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = parts.pop() ?? "";
    yield* parts;
  }
  if (rest !== "") yield rest;
}

export interface ServerEvent {
  id: string | undefined;
  record: StreamRecord;
}

/** By the rules of the HTML standard, as far as events have but `id` and `data`. */
export async function* serverEvents(response: Response): AsyncGenerator<ServerEvent> {
  let id: string | undefined;
  let data: string[] = [];
  for await (const line of lines(response)) {
    if (line === "") {
      if (data.length > 0) yield { id, record: recordOf(response, data.join("\n")) };
      data = [];
    } else if (line.startsWith("id: ")) id = line.slice(4);
    else if (line.startsWith("data: ")) data.push(line.slice(6));
    else if (!line.startsWith(":")) throw new Error(`unexpected line: ${line}`);
  }
}

// biome-ignore lint/suspicious/noExplicitAny: an answer is compared, never trusted
export async function json(response: Response): Promise<any> {
  return await response.json();
}

export async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const item of items) list.push(item);
  return list;
}
