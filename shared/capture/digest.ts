/** Digests as they stand in captures and in WARC headers. */
import { createHash } from "node:crypto";

/**
 * `sha256:` and 64 hex digits over the parts in order. Hex, as warcio.js writes it and as readers that verify digests accept
 * by length, and the same text as `Capture.payloadDigest`, so that the two compare without conversion.
 */
export function labelledDigest(...parts: readonly Uint8Array[]): string {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(part);
  return `sha256:${hash.digest("hex")}`;
}
