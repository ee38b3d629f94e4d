/** Captures as lines of a CDX index, in the spellings of the field. */
import { MAX_KEY_LENGTH, surtOf } from "../../crawl/urls/surt.ts";

export const CDX_FIELDS = [
  "urlkey",
  "timestamp",
  "original",
  "mimetype",
  "statuscode",
  "digest",
  "redirect",
  "robotflags",
  "length",
  "offset",
  "filename",
] as const;
/** Of the original of a revisit. */
const ORIGINAL_FIELDS = ["orig.length", "orig.offset", "orig.filename"] as const;
export type CdxField = (typeof CDX_FIELDS)[number] | (typeof ORIGINAL_FIELDS)[number];

/** Other names of fields, as in CDXJ. */
const OTHER_NAMES: Readonly<Record<string, CdxField>> = {
  url: "original",
  mime: "mimetype",
  status: "statuscode",
};

/** A capture as the index lists it. */
export interface IndexedCapture {
  id: number;
  key: string;
  url: string;
  time: Date;
  status: number;
  mimeType: string | null;
  digest: string | null;
  warcKey: string;
  offset: number;
  length: number;
  isRevisit: boolean;
  /** Where the original of a revisit lies. */
  original: { warcKey: string; offset: number; length: number; mimeType: string | null } | null;
}

export class UnknownCdxField extends Error {
  constructor(name: string) {
    super(`There is no field ${JSON.stringify(name.slice(0, 100))}: fields are ${CDX_FIELDS.join(", ")}`);
    this.name = "UnknownCdxField";
  }
}

/** @throws UnknownCdxField */
export function fieldOf(name: string): CdxField {
  const all: readonly string[] = [...CDX_FIELDS, ...ORIGINAL_FIELDS];
  const other = Object.hasOwn(OTHER_NAMES, name) ? OTHER_NAMES[name] : undefined;
  if (other !== undefined) return other;
  if (!all.includes(name)) throw new UnknownCdxField(name);
  return name as CdxField;
}

/** 14 digits, UTC. */
export const timestampOf = (time: Date): string => time.toISOString().replaceAll(/[-:T]|\.\d+Z$/g, "");

const NONE = "-";

/** The value of a field, as it stands in a line: ASCII without blanks. */
export function fieldText(capture: IndexedCapture, field: CdxField): string {
  return fieldValue(capture, field).replaceAll(/[^!-~]+/g, (text) => encodeURIComponent(text)) || NONE;
}

function fieldValue(capture: IndexedCapture, field: CdxField): string {
  switch (field) {
    case "urlkey":
      return capture.key.length < MAX_KEY_LENGTH ? capture.key : surtOf(capture.url);
    case "timestamp":
      return timestampOf(capture.time);
    case "original":
      return capture.url;
    case "mimetype":
      return capture.isRevisit && capture.original === null ? "warc/revisit" : (typeOf(capture) ?? "unk");
    case "statuscode":
      return capture.status === 0 ? NONE : String(capture.status);
    case "digest":
      return capture.digest ?? NONE;
    case "length":
      return String(capture.length);
    case "offset":
      return String(capture.offset);
    case "filename":
      return capture.warcKey;
    case "orig.length":
      return String(capture.original?.length ?? NONE);
    case "orig.offset":
      return String(capture.original?.offset ?? NONE);
    case "orig.filename":
      return capture.original?.warcKey ?? NONE;
    default:
      return NONE;
  }
}

const typeOf = ({ original, mimeType }: IndexedCapture): string | null =>
  original === null ? mimeType : original.mimeType;

/** The names of fields in CDXJ. */
const CDXJ_NAMES: readonly (readonly [string, CdxField])[] = [
  ["url", "original"],
  ["mime", "mimetype"],
  ["status", "statuscode"],
  ["digest", "digest"],
  ["length", "length"],
  ["offset", "offset"],
  ["filename", "filename"],
];

/** Key, timestamp, and the rest as JSON: a line of CDXJ without its end. */
export function cdxjLine(capture: IndexedCapture): string {
  const rest = CDXJ_NAMES.map(([name, field]) => [name, fieldText(capture, field)] as const);
  const known = rest.filter(([, value]) => value !== NONE);
  const begin = `${fieldText(capture, "urlkey")} ${fieldText(capture, "timestamp")}`;
  return `${begin} ${JSON.stringify(Object.fromEntries(known))}`;
}
