/** Encodes and logs a streamed response on its way out. */
import type { StreamedResponse, StreamRequest } from "./stream-route.ts";

/** The chunks as bytes; how they ended is logged. */
export async function* observed(
  chunks: StreamedResponse["chunks"],
  { log, signal }: Pick<StreamRequest<unknown, unknown, unknown, null>, "log" | "signal">,
): AsyncGenerator<Uint8Array> {
  const started = performance.now();
  const encoder = new TextEncoder();
  let bytes = 0;
  let end = "left";
  try {
    for await (const chunk of chunks) {
      const encoded = typeof chunk === "string" ? encoder.encode(chunk) : chunk;
      bytes += encoded.length;
      yield encoded;
    }
    if (!signal.aborted) end = "complete";
  } catch (error) {
    // what waits for something ends by throwing once nobody waits for it
    if (signal.aborted) return;
    end = "failed";
    log.error("a streamed answer failed: it is cut", { error });
    throw error;
  } finally {
    log.info("stream", { end, bytes, duration_ms: Math.round(performance.now() - started) });
  }
}
