/**
 * Finds the encoding of a text, by the order of the WHATWG sniffing algorithm: byte order mark, transport, the
 * document's own declaration, then detection. A label that nobody knows, or that the bytes contradict, is skipped:
 * never fatal.
 */
import { isAscii, isUtf8 } from "node:buffer";
import sniffHtmlEncoding from "html-encoding-sniffer";
import { canDecode, canonical } from "./charset-names.ts";
import { contradictsUtf8, detectEncoding, SAMPLE_BYTES } from "./detect-charset.ts";
import { utf16Declared } from "./utf16.ts";

export interface DecodedText {
  text: string;
  /** WHATWG encoding name; UTF-32, which that standard does not know, by its common name. */
  charset: string;
}

/** What the sniffer answers where nothing in the bytes says anything. */
const UNDECLARED = "x-undeclared";

/**
 * @param body without content coding
 * @param label the charset parameter of Content-Type
 * @param kind which declarations inside the body count
 * @example
 * decodeText(Buffer.from("<meta charset=iso-8859-15>\xa4", "latin1"), undefined, "html").text.at(-1) // => "€"
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
  const declared16 = hasMark(body) ? undefined : utf16Declared(label, body);
  if (declared16 !== undefined) return declared16;
  const transport = usable(label, body);
  const declared =
    transport === undefined || isLatinByHabit(transport, body, kind) ? undefined : sniff(body, transport, kind);
  return declared ?? declaredInside(body, kind) ?? detectEncoding(body, kind);
}

/**
 * Servers say Latin-1 of whatever they do not know; of a text in it, UTF-8 that says so itself would not come out by
 * chance.
 */
function isLatinByHabit(transport: string, body: Uint8Array, kind: "html" | "xml" | "plain"): boolean {
  return ONE_BYTE.test(transport) && isUtf8(body) && !isAscii(body) && declaredInside(body, kind) === "UTF-8";
}

function declaredInside(body: Uint8Array, kind: "html" | "xml" | "plain"): string | undefined {
  const sniffed = sniff(body, undefined, kind);
  if (sniffed !== undefined || kind === "plain") return sniffed;
  return usable(xmlDeclaration(body), body) ?? (kind === "html" ? usable(lateDeclaration(body), body) : undefined);
}

/** Encodings of one byte a character, in which any bytes are some text. */
const ONE_BYTE = /^(?:windows-|ISO-8859-|KOI8-|IBM866|.*mac)/;

/** By byte order mark, transport and declaration; undefined where nothing is said, or what cannot be. */
function sniff(body: Uint8Array, transport: string | undefined, kind: "html" | "xml" | "plain"): string | undefined {
  const declared = sniffed(body, {
    xml: kind !== "html",
    ...(transport === undefined ? {} : { transportLayerEncodingLabel: transport }),
    defaultEncoding: UNDECLARED,
  });
  if (declared === UNDECLARED || !canDecode(declared)) return undefined;
  const name = canonical(declared);
  return name === "UTF-8" && contradictsUtf8(body) ? undefined : name;
}

/** The sniffer reads past the end of a declaration that breaks off, as in `content="text/html; charset"`. */
function sniffed(body: Uint8Array, options: Parameters<typeof sniffHtmlEncoding>[1]): string {
  try {
    return sniffHtmlEncoding(body, options);
  } catch (error) {
    if (error instanceof TypeError) return UNDECLARED;
    throw error;
  }
}

/** Canonical name of a label that can be true of these bytes. */
function usable(label: string | undefined, body: Uint8Array): string | undefined {
  if (label === undefined || !canDecode(label)) return undefined;
  const name = canonical(label);
  // UTF-16 text of any language holds NUL bytes in its spaces, line ends and markup: without one the label is a lie
  if (name.startsWith("UTF-16") && !body.subarray(0, SAMPLE_BYTES).includes(0)) return undefined;
  return name === "UTF-8" && contradictsUtf8(body) ? undefined : name;
}

/** `<?xml … encoding="…"?>`, which HTML served as XML carries instead of a meta element. */
function xmlDeclaration(body: Uint8Array): string | undefined {
  const start = Buffer.from(body.buffer, body.byteOffset, Math.min(body.length, 1024)).toString("latin1");
  return /^\s*<\?xml\s[^>]*?encoding\s*=\s*["']([A-Za-z0-9._-]+)["']/.exec(start)?.[1];
}

/** A meta element behind the 1024 bytes that the sniffing looks at: a browser that comes to it reads the page anew. */
function lateDeclaration(body: Uint8Array): string | undefined {
  const start = Buffer.from(body.buffer, body.byteOffset, Math.min(body.length, SAMPLE_BYTES)).toString("latin1");
  const shown = start.replace(/<!--[\s\S]*?(?:-->|$)/g, "");
  return /<meta\b[^<>]{0,500}?\bcharset\s*=\s*["']?\s*([A-Za-z0-9._:-]{1,40})/i.exec(shown)?.[1];
}

const hasMark = ([a, b]: Uint8Array): boolean => (a === 0xff && b === 0xfe) || (a === 0xfe && b === 0xff);

function utf32Mark(body: Uint8Array): string | undefined {
  const [a, b, c, d] = body;
  if (a === 0xff && b === 0xfe && c === 0 && d === 0) return "UTF-32LE";
  if (a === 0 && b === 0 && c === 0xfe && d === 0xff) return "UTF-32BE";
  return undefined;
}

/**
 * UTF-16 of mostly Latin text, with or without a mark: every other byte is NUL, as in no text of another encoding,
 * whatever a label says. It would pass for UTF-8, since NUL is a character there.
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
