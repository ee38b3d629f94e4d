/** Server-sent events over `fetch`, which can send the key in a header: the browser's own EventSource cannot. */
import { request } from "./client.ts";

export interface ServerEvent {
  event: string;
  id: string | undefined;
  data: string;
}

/**
 * Reads the events of one connection, until the server ends it.
 * @throws ApiFault where the stream is refused
 */
export async function* readEvents(path: string, signal: AbortSignal): AsyncGenerator<ServerEvent> {
  const { body } = await request(path, { signal, accept: "text/event-stream" });
  if (body === null) return;
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let waiting = "";
  for (;;) {
    const { done, value } = await reader.read();
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
