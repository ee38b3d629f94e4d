/**
 * The encoding of a text, by the order of the WHATWG sniffing algorithm: byte order mark, transport, the document's own
 * declaration, then detection. A label that nobody knows, or that the bytes contradict, is passed over: never fatal.
 */
import { isUtf8 } from "node:buffer";
import { analyse } from "chardet";
import sniffHtmlEncoding from "html-encoding-sniffer";

export interface DecodedText {
  text: string;
  /** WHATWG encoding name; UTF-32, which that standard does not know, by its common name. */
  charset: string;
}

/** How much of a body decides about its encoding. */
const SAMPLE_BYTES = 32 * 1024;
/** Of a detection, of 100: sentences in the right encoding reach 40 and more, a wrong guess 22 at the most. */
const MIN_CONFIDENCE = 25;
/** chardet's names that TextDecoder does not take as they are. */
const DETECTED_NAMES: Record<string, string> = { "UTF-32 LE": "UTF-32LE", "UTF-32 BE": "UTF-32BE" };
/** What the sniffer answers where nothing in the bytes says anything. */
const UNDECLARED = "x-undeclared";

/**
 * @param body without content coding
 * @param label the charset parameter of Content-Type
 * @param kind which declarations inside the body count
 */
export function decodeText(body: Uint8Array, label: string | undefined, kind: "html" | "xml" | "plain"): DecodedText {
  const charset = charsetOf(body, label, kind);
  return { text: decodeAs(body, charset), charset };
}

/**
 * Text in an encoding that is known already.
 * @param charset as `decodeText` names it
 * @param cut the bytes may end inside a character, which is left out then
 * @throws RangeError where no such encoding is known
 */
export function decodeKnown(body: Uint8Array, charset: string, cut: boolean): string {
  return charset.startsWith("UTF-32")
    ? decodeUtf32(body, charset === "UTF-32LE")
    : new TextDecoder(charset).decode(body, { stream: cut });
}

function charsetOf(body: Uint8Array, label: string | undefined, kind: "html" | "xml" | "plain"): string {
  const utf32 = utf32Mark(body);
  if (utf32 !== undefined) return utf32;
  const utf16 = utf16Pattern(body.subarray(0, SAMPLE_BYTES));
  if (utf16 !== undefined) return utf16;
  const transport = usable(label, body);
  const declared = sniffHtmlEncoding(body, {
    xml: kind !== "html",
    ...(transport === undefined ? {} : { transportLayerEncodingLabel: transport }),
    defaultEncoding: UNDECLARED,
  });
  if (declared !== UNDECLARED && canDecode(declared)) return canonical(declared);
  const inXml = kind === "plain" ? undefined : usable(xmlDeclaration(body), body);
  return inXml ?? detect(body);
}

/** Canonical name of a label that can be true of these bytes. */
function usable(label: string | undefined, body: Uint8Array): string | undefined {
  if (label === undefined || !canDecode(label)) return undefined;
  const name = canonical(label);
  // UTF-16 text of any language holds NUL bytes in its spaces, line ends and markup: without one the label is a lie
  if (name.startsWith("UTF-16") && !body.subarray(0, SAMPLE_BYTES).includes(0)) return undefined;
  return name;
}

function canDecode(label: string): boolean {
  try {
    new TextDecoder(label);
    return true;
  } catch {
    return false;
  }
}

const canonical = (label: string): string => {
  const name = new TextDecoder(label).encoding;
  return CANONICAL_CASE[name] ?? name.toUpperCase().replace("WINDOWS-", "windows-");
};
/** The standard's spelling where it is not all upper case. */
const CANONICAL_CASE: Record<string, string> = {
  big5: "Big5",
  gbk: "GBK",
  gb18030: "gb18030",
  shift_jis: "Shift_JIS",
  macintosh: "macintosh",
  "x-mac-cyrillic": "x-mac-cyrillic",
  "x-user-defined": "x-user-defined",
};

/** `<?xml … encoding="…"?>`, which HTML served as XML carries instead of a meta element. */
function xmlDeclaration(body: Uint8Array): string | undefined {
  const start = Buffer.from(body.buffer, body.byteOffset, Math.min(body.length, 1024)).toString("latin1");
  return /^\s*<\?xml\s[^>]*?encoding\s*=\s*["']([A-Za-z0-9._-]+)["']/.exec(start)?.[1];
}

function detect(body: Uint8Array): string {
  // a sample may end inside a character
  if (isUtf8(body) || isUtf8(wholeCharacters(body.subarray(0, SAMPLE_BYTES)))) return "UTF-8";
  for (const { name, confidence } of analyse(body.subarray(0, SAMPLE_BYTES))) {
    if (confidence < MIN_CONFIDENCE) break;
    const known = DETECTED_NAMES[name] ?? name;
    if (known.startsWith("UTF-32")) return known;
    if (known !== "UTF-8" && known !== "ASCII" && usable(known, body) !== undefined) return canonical(known);
  }
  return "windows-1252";
}

/** Cuts an unfinished UTF-8 sequence off the end. */
function wholeCharacters(sample: Uint8Array): Uint8Array {
  let end = sample.length;
  while (end > 0 && sample.length - end < 4 && ((sample[end - 1] ?? 0) & 0xc0) === 0x80) end -= 1;
  return end > 0 && (sample[end - 1] ?? 0) >= 0xc0 ? sample.subarray(0, end - 1) : sample;
}

function utf32Mark(body: Uint8Array): string | undefined {
  const [a, b, c, d] = body;
  if (a === 0xff && b === 0xfe && c === 0 && d === 0) return "UTF-32LE";
  if (a === 0 && b === 0 && c === 0xfe && d === 0xff) return "UTF-32BE";
  return undefined;
}

/**
 * UTF-16 of mostly Latin text, with or without a mark: every other byte is NUL, as in no text of another encoding, whatever a
 * label says. It would pass for UTF-8, since NUL is a character there.
 */
function utf16Pattern(sample: Uint8Array): string | undefined {
  let even = 0;
  let odd = 0;
  for (let at = sample.indexOf(0); at >= 0; at = sample.indexOf(0, at + 1)) {
    if (at % 2 === 0) even += 1;
    else odd += 1;
  }
  // U+0100 and the like have their NUL on the other side
  const clear = (many: number, few: number): boolean => many > sample.length / 4 && few < many / 16;
  if (clear(odd, even)) return "UTF-16LE";
  return clear(even, odd) ? "UTF-16BE" : undefined;
}

function decodeAs(body: Uint8Array, charset: string): string {
  if (charset.startsWith("UTF-32")) return decodeUtf32(body, charset === "UTF-32LE");
  return new TextDecoder(charset).decode(body);
}

function decodeUtf32(body: Uint8Array, littleEndian: boolean): string {
  const view = new DataView(body.buffer, body.byteOffset, body.length);
  const parts: string[] = [];
  for (let at = 0; at + 4 <= body.length; at += 4) {
    const point = view.getUint32(at, littleEndian);
    const scalar = point <= 0x10ffff && !(point >= 0xd800 && point <= 0xdfff);
    if (!(at === 0 && point === 0xfeff)) parts.push(String.fromCodePoint(scalar ? point : 0xfffd));
  }
  return parts.join("");
}
