/** Server-sent events over `fetch`, which sends the key in a header. */

export interface ServerEvent {
  /** undefined where the event has none. */
  id: string | undefined;
  data: string;
}

/** Reads the events of one connection until it ends; an event that is not whole is left out. */
export async function* readEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<ServerEvent> {
  const reader = body.pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>).getReader();
  let waiting = "";
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      const blocks = (waiting + value).split(/\r?\n\r?\n/);
      waiting = blocks.pop() ?? "";
      for (const block of blocks) {
        const event = eventOf(block);
        if (event !== undefined) yield event;
      }
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

function eventOf(block: string): ServerEvent | undefined {
  const lines = block.split(/\r?\n/);
  const valuesOf = (name: string) =>
    lines.filter((line) => line.startsWith(`${name}:`)).map((line) => line.slice(name.length + 1).replace(/^ /, ""));
  const data = valuesOf("data");
  return data.length === 0 ? undefined : { id: valuesOf("id").at(-1), data: data.join("\n") };
}
