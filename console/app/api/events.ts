/** Server-sent events over `fetch`, which can send the key in a header: the browser's own EventSource cannot. */
import { request } from "./client.ts";
import type { ServerEvent } from "./server-event.ts";

/** The server says something every 15 s, be it a comment: a line that is silent for so long is dead. */
const SILENCE_MS = 60_000;

export interface Reading {
  signal: AbortSignal;
  /** Of the last event that has come; undefined: from the beginning. */
  lastEventId?: string | undefined;
}

/**
 * Reads the events of one connection, until the server ends it.
 * @throws ApiFault where the stream is refused
 * @throws TypeError where the connection is cut
 */
export async function* readEvents(path: string, { signal, lastEventId }: Reading): AsyncGenerator<ServerEvent> {
  const dead = new AbortController();
  let silence: ReturnType<typeof setTimeout> | undefined;
  const heard = (): void => {
    clearTimeout(silence);
    silence = setTimeout(() => dead.abort(new TypeError("The connection is silent")), SILENCE_MS);
  };
  try {
    heard();
    const either = AbortSignal.any([signal, dead.signal]);
    const { body } = await request(path, { signal: either, accept: "text/event-stream", lastEventId });
    if (body !== null) yield* eventsOf(body, heard);
  } finally {
    clearTimeout(silence);
  }
}

async function* eventsOf(body: ReadableStream<BufferSource>, heard: () => void): AsyncGenerator<ServerEvent> {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let waiting = "";
  for (;;) {
    const { done, value } = await reader.read();
    heard();
    if (done) return;
    const blocks = (waiting + value).split(/\r?\n\r?\n/);
    waiting = blocks.pop() ?? "";
    for (const block of blocks) {
      const event = parse(block);
      if (event !== undefined) yield event;
    }
  }
}

function parse(block: string): ServerEvent | undefined {
  const fields = new Map<string, string>();
  for (const line of block.split(/\r?\n/)) {
    const [, name, value] = /^([a-z]+): ?(.*)$/.exec(line) ?? [];
    if (name !== undefined && value !== undefined) {
      const before = fields.get(name);
      fields.set(name, before === undefined ? value : `${before}\n${value}`);
    }
  }
  const data = fields.get("data");
  return data === undefined ? undefined : { event: fields.get("event") ?? "message", id: fields.get("id"), data };
}
