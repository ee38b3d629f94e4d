/** Finds what a body is: by its Content-Type, and by its bytes where that is missing or plainly wrong. */
import { utf16Declared } from "../../capture/utf16.ts";

export interface MediaType {
  /** Lower case, without parameters; null where the server names none. */
  essence: string | null;
  charset: string | undefined;
}

export function parseMediaType(contentType: string | undefined): MediaType {
  if (contentType === undefined) return { essence: null, charset: undefined };
  const essence = /^\s*([!#$%&'*+.^_`|~0-9A-Za-z-]+\/[!#$%&'*+.^_`|~0-9A-Za-z-]+)\s*(?:;|$)/.exec(contentType)?.[1];
  const charset = /;\s*charset\s*=\s*(?:"([^"]*)"|'([^']*)'|([^;,\s]+))/i.exec(contentType);
  return {
    essence: essence?.toLowerCase() ?? null,
    charset: charset?.[1] ?? charset?.[2] ?? charset?.[3],
  };
}

/** How the text of a page is read; `undefined`: it is not. */
export type TextKind = "html" | "xml" | "plain" | undefined;

/** The reference's allowed content types. */
const KINDS: Record<string, TextKind> = {
  "text/html": "html",
  "application/xhtml+xml": "xml",
  "application/xml": "xml",
  "text/xml": "xml",
  "text/plain": "plain",
};

/** First bytes of formats that are no text. */
const MAGIC: readonly [string, string][] = [
  ["%PDF-", "PDF"],
  ["\x89PNG\r\n", "PNG"],
  ["GIF8", "GIF"],
  ["\xff\xd8\xff", "JPEG"],
  ["PK\x03\x04", "ZIP"],
  ["\x1f\x8b", "gzip"],
  ["\x7fELF", "ELF"],
  ["RIFF", "RIFF"],
  ["wOF", "WOFF"],
  ["OggS", "Ogg"],
  ["ID3", "MP3"],
  ["\x00\x00\x01\x00", "icon"],
  ["Rar!", "RAR"],
  ["7z\xbc\xaf", "7z"],
];
const BINARY = "binary data";
const SAMPLE_BYTES = 1024;
const MARKUP =
  /^\s*(?:<!--[\s\S]*?-->\s*)?<(?:!doctype\s+html|html|head|body|title|meta|script|style|h1|div|p|a|table|br|font|iframe)[\s>/]/i;

/**
 * @param body without content coding
 * @param label the charset parameter of Content-Type
 * @returns how to read it, or what it is instead
 */
export function textKindOf(
  essence: string | null,
  body: Uint8Array,
  label?: string,
): { kind: TextKind; reason: string } {
  if (essence !== null && !(essence in KINDS)) return { kind: undefined, reason: `${essence} is not extracted` };
  const binary = binaryFormat(body);
  if (binary !== undefined && !(binary === BINARY && utf16Declared(label, body) !== undefined)) {
    return { kind: undefined, reason: `The body is ${binary}, though its type is ${essence ?? "not given"}` };
  }
  if (essence !== null) return { kind: KINDS[essence], reason: "" };
  // whatever the encoding, without its mark: markup is ASCII
  const start = Buffer.from(body.buffer, body.byteOffset, Math.min(body.length, SAMPLE_BYTES))
    .toString("latin1")
    .replace(/^(?:\xef\xbb\xbf|\xff\xfe|\xfe\xff)/, "")
    .replaceAll("\0", "");
  if (MARKUP.test(start)) return { kind: "html", reason: "" };
  return { kind: start.startsWith("<?xml") ? "xml" : "plain", reason: "" };
}

/** Types that people read as text, although nothing is extracted from them. */
const OTHER_TEXT = /^(text\/.+|application\/(json|javascript|ecmascript|x-ndjson|yaml|toml|sql|.+\+(json|xml|yaml)))$/;
const XML_TYPE = /[/+]xml$/;

/** As `textKindOf`, for whoever wants to see the body: scripts, style sheets and data formats are text as well. */
export function readableKindOf(essence: string | null, body: Uint8Array): TextKind {
  if (essence === null || essence in KINDS) return textKindOf(essence, body).kind;
  if (!OTHER_TEXT.test(essence) || binaryFormat(body) !== undefined) return undefined;
  return XML_TYPE.test(essence) ? "xml" : "plain";
}

/** The name of a format that is no text, or "binary data"; undefined for text in any encoding. */
function binaryFormat(body: Uint8Array): string | undefined {
  const sample = Buffer.from(body.buffer, body.byteOffset, Math.min(body.length, SAMPLE_BYTES));
  const start = sample.toString("latin1", 0, 16);
  const known = MAGIC.find(([magic]) => start.startsWith(magic));
  if (known) return known[1];
  // UTF-16 and UTF-32 are full of NUL bytes
  if (start.startsWith("\xff\xfe") || start.startsWith("\xfe\xff") || start.startsWith("\0\0\xfe\xff"))
    return undefined;
  let controls = 0;
  let nuls = 0;
  for (const byte of sample) {
    if (byte === 0) nuls += 1;
    else if (byte < 0x20 && byte !== 0x09 && byte !== 0x0a && byte !== 0x0c && byte !== 0x0d && byte !== 0x1b)
      controls += 1;
  }
  if (controls > sample.length / 20 || nuls > sample.length * 0.8) return BINARY;
  // in UTF-16 without a mark they fall on every other byte; scattered ones are no text
  return nuls > 0 && controls > 0 && nuls < sample.length / 4 ? BINARY : undefined;
}
