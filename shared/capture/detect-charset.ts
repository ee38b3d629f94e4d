/** The encoding of a text that says nothing of it, or nothing that can be true. */
import { isUtf8 } from "node:buffer";
import { analyse } from "chardet";
import { canDecode, canonical } from "./charset-names.ts";

/** How much of a body decides about its encoding. */
export const SAMPLE_BYTES = 32 * 1024;
/** Of a detection, of 100: sentences in the right encoding reach 40 and more, a wrong guess 22 at the most. */
const MIN_CONFIDENCE = 25;
/** chardet's names that TextDecoder does not take as they are. */
const DETECTED_NAMES: Record<string, string> = { "UTF-32 LE": "UTF-32LE", "UTF-32 BE": "UTF-32BE" };
/** The switches to Kanji of ISO-2022-JP, which is ASCII otherwise. */
const TO_KANJI = ["\x1b$B", "\x1b$@"];

export function detectEncoding(body: Uint8Array, kind: "html" | "xml" | "plain"): string {
  const sample = body.subarray(0, SAMPLE_BYTES);
  if (TO_KANJI.some((kanji) => Buffer.from(sample).includes(kanji)) && !sample.some((byte) => byte > 0x7f)) {
    return "ISO-2022-JP";
  }
  // a sample may end inside a character
  if (isUtf8(body) || isUtf8(wholeCharacters(sample))) return "UTF-8";
  const text = kind === "plain" ? sample : withoutMarkup(sample);
  return analysed(foreignWords(text) ?? text) ?? analysed(text) ?? "windows-1252";
}

function analysed(sample: Uint8Array): string | undefined {
  for (const { name, confidence } of analyse(sample)) {
    if (confidence < MIN_CONFIDENCE) return undefined;
    const known = DETECTED_NAMES[name] ?? name;
    if (known.startsWith("UTF-32")) return known;
    if (known === "UTF-8" || known === "ASCII" || !canDecode(known)) continue;
    const found = canonical(known);
    // UTF-16 was looked for before
    if (!found.startsWith("UTF-16") || sample.includes(0)) return found;
  }
  return undefined;
}

/**
 * The words of another script than Latin, without what stands in English beside them: menus and names would outweigh
 * them in a page of few words. Undefined where the words are Latin, whose accents say less than all of the text.
 */
function foreignWords(text: Uint8Array): Uint8Array | undefined {
  const words = Buffer.from(text)
    .toString("latin1")
    .split(/[\0-@]+/);
  const foreign = words.filter((word) => /[\x80-\xff]/.test(word)).join(" ");
  const letters = foreign.replace(/[ -\x7f]/g, "").length;
  return letters > LEAST_SHARE * foreign.length ? Buffer.from(foreign, "latin1") : undefined;
}

/** Of bytes beyond ASCII in words of another script. */
const LEAST_SHARE = 0.6;

/**
 * Its letters are of no language, and would drown those of the text. No text in any of these encodings holds `<` or `>`
 * as a part.
 */
function withoutMarkup(sample: Uint8Array): Uint8Array {
  const text = Buffer.from(sample)
    .toString("latin1")
    .replace(/<(script|style)\b[\s\S]*?(?:<\/\1\b|$)/gi, "<")
    .replace(/<[^>]*(?:>|$)/g, " ");
  return Buffer.from(text, "latin1");
}

/** Below this many, characters that cannot be UTF-8 are damage. */
const FEWEST_WRONG = 8;

/** Whether most of what is no ASCII cannot be UTF-8: a text in UTF-8 may be damaged here and there. */
export function contradictsUtf8(body: Uint8Array): boolean {
  if (isUtf8(body)) return false;
  const sample = wholeCharacters(body.subarray(0, SAMPLE_BYTES));
  const wrong = new TextDecoder().decode(sample).split("\ufffd").length - 1;
  if (wrong < FEWEST_WRONG) return false;
  let high = 0;
  for (const byte of sample) if (byte > 0x7f) high += 1;
  return wrong > high / 2;
}

/** Cuts an unfinished UTF-8 sequence off the end. */
function wholeCharacters(sample: Uint8Array): Uint8Array {
  let end = sample.length;
  while (end > 0 && sample.length - end < 4 && ((sample[end - 1] ?? 0) & 0xc0) === 0x80) end -= 1;
  return end > 0 && (sample[end - 1] ?? 0) >= 0xc0 ? sample.subarray(0, end - 1) : sample;
}
