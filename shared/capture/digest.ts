/** Digests as they stand in captures and in WARC headers. */
import { createHash, hash } from "node:crypto";

/**
 * `sha256:` and 64 hex digits over the parts in order. Hex, as warcio.js writes it and as readers that verify digests
 * accept by length, and the same text as `Capture.payloadDigest`, so that the two compare without conversion.
 */
export function labelledDigest(...parts: readonly Uint8Array[]): string {
  const [only, ...others] = parts;
  if (only !== undefined && others.length === 0) return `sha256:${hash("sha256", only)}`;
  const sum = createHash("sha256");
  for (const part of parts) sum.update(part);
  return `sha256:${sum.digest("hex")}`;
}
