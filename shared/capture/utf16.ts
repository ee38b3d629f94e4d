/** Tells whether a body is in UTF-16, as its Content-Type says, and in which order its bytes stand. */
import { canDecode, canonical } from "./charset-names.ts";

const SAMPLE_BYTES = 4096;
const LEAST_BYTES = 16;

/**
 * @param label the charset parameter of Content-Type
 * @returns "UTF-16LE" or "UTF-16BE"; undefined where the label names another encoding, or the bytes contradict it
 */
export function utf16Declared(label: string | undefined, body: Uint8Array): "UTF-16LE" | "UTF-16BE" | undefined {
  if (label === undefined || !canDecode(label) || !canonical(label).startsWith("UTF-16")) return undefined;
  const sample = body.subarray(0, Math.min(SAMPLE_BYTES, body.length - (body.length % 2)));
  // text of any language has its spaces, line ends and markup: without a NUL byte the label is a lie
  if (sample.length < LEAST_BYTES || !sample.includes(0)) return undefined;
  // the characters of a text are of a few blocks: their high bytes are fewer than their low ones
  const [even, odd] = [distinct(sample, 0), distinct(sample, 1)];
  const declared = canonical(label) === "UTF-16BE" ? "UTF-16BE" : "UTF-16LE";
  const order = even === odd ? declared : odd < even ? "UTF-16LE" : "UTF-16BE";
  return isText(new TextDecoder(order).decode(sample, { stream: true })) ? order : undefined;
}

function distinct(sample: Uint8Array, from: 0 | 1): number {
  const seen = new Set<number>();
  for (let at = from; at < sample.length; at += 2) seen.add(sample[at] as number);
  return seen.size;
}

/** Bytes of another encoding, read by twos, come upon what is no character, and upon a script here and one there. */
function isText(text: string): boolean {
  const strange = text.match(/[\p{Co}\p{Cn}\p{Cs}\ufffd]|(?![\t\n\f\r])\p{Cc}/gu)?.length ?? 0;
  return strange <= text.length / 100;
}
