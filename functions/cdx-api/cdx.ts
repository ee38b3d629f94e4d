/** The route of CDX queries. */
import { z } from "zod";
import { CDX_FIELDS, type CdxField, cdxjLine, fieldText } from "../../shared/archive/cdx/cdx-line.ts";
import { type Selected, selectCaptures } from "../../shared/archive/cdx/select-captures.ts";
import { encodeCursor } from "../adapters/api/cursor.ts";
import { defineStreamRoute, StreamedResponse } from "../adapters/api/stream-route.ts";
import { type CdxParameters, cdxParameters, cdxQueryOf, resumeTextOf } from "./cdx-request.ts";
import type { CdxApi } from "./dependencies.ts";
import { requireWholeIndex } from "./whole-index.ts";

const lineSchema = z.string();
/** Rows of values, as text; the first has their names. */
const rowsSchema = z.array(z.array(z.string()));
const recordSchema = z.record(z.string(), z.string());

/** Lines are of ASCII. */
const CONTENT_TYPES = {
  text: "text/plain",
  cdxj: "text/x-cdxj",
  json: "application/json",
  ndjson: "application/x-ndjson",
} as const;

export const listCdx = defineStreamRoute(
  {
    method: "GET",
    path: "/api/cdx",
    scope: "read",
    summary: "The captures of a URL, or of all that begin like it, as an index of WARC files has them",
    query: cdxParameters,
    response: z.never(),
    streams: {
      [CONTENT_TYPES.text]: lineSchema,
      [CONTENT_TYPES.cdxj]: lineSchema,
      [CONTENT_TYPES.json]: rowsSchema,
      [CONTENT_TYPES.ndjson]: recordSchema,
    },
  },
  async ({ query, signal }, dependencies: CdxApi) => {
    await requireWholeIndex(dependencies);
    const found = selectCaptures(dependencies.sql, cdxQueryOf(query), signal);
    return new StreamedResponse({ contentType: CONTENT_TYPES[query.output], chunks: linesOf(found, query) });
  },
);

/** Lines that are sent at once, so that a long list is not as many writes. */
const CHUNK_LINES = 500;

async function* linesOf(found: AsyncGenerator<Selected, boolean>, query: CdxParameters): AsyncGenerator<string> {
  const { begin, line, resume, end } = writerOf(query);
  let lines: string[] = [begin];
  let last: Selected | undefined;
  let next = await found.next();
  for (; !next.done; next = await found.next()) {
    last = next.value;
    lines.push(line(last));
    if (lines.length < CHUNK_LINES) continue;
    yield lines.join("");
    lines = [];
  }
  const goesOn = next.value && query.showResumeKey && last !== undefined;
  if (goesOn) lines.push(resume(encodeCursor(resumeTextOf((last as Selected).position))));
  lines.push(end);
  yield lines.join("");
}

interface Writer {
  begin: string;
  line(selected: Selected): string;
  /** What says where the list goes on. */
  resume(key: string): string;
  end: string;
}

function writerOf({ output, fl, resolveRevisits }: CdxParameters): Writer {
  const all: CdxField[] = resolveRevisits
    ? [...CDX_FIELDS, "orig.length", "orig.offset", "orig.filename"]
    : [...CDX_FIELDS];
  const fields = fl ?? all;
  const values = ({ capture }: Selected) => fields.map((field) => fieldText(capture, field));
  const resume = (key: string) => `\n${key}\n`;
  if (output === "json") {
    return {
      begin: `[${JSON.stringify(fields)}`,
      line: (selected) => `,\n${JSON.stringify(values(selected))}`,
      resume: (key) => `,\n[],\n${JSON.stringify([key])}`,
      end: "]\n",
    };
  }
  if (output === "ndjson") {
    return {
      begin: "",
      line: (selected) => {
        const held = values(selected);
        return `${JSON.stringify(Object.fromEntries(fields.map((field, index) => [field, held[index]])))}\n`;
      },
      resume: (key) => `${JSON.stringify({ resumeKey: key })}\n`,
      end: "",
    };
  }
  const text = (selected: Selected) =>
    output === "cdxj" && fl === undefined ? cdxjLine(selected.capture) : values(selected).join(" ");
  return { begin: "", line: (selected) => `${text(selected)}\n`, resume, end: "" };
}
