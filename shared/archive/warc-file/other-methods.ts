/** Which answers of a WARC file are none to a GET: requests say so, and stand before or behind them. */
import type { WarcRecord } from "./read-warc-file.ts";

/** Bytes of the block of a request that are read for it. */
export const REQUEST_BYTES = 1024;
/** Requests whose answers may stand further on. */
const MOST_WAITING = 10_000;

export class OtherMethods {
  /** By the ids of the records of requests, and of those they belong to. */
  readonly #methods = new Map<string, string>();

  /** @returns whether the record is a request that asks for no page */
  add(record: WarcRecord): boolean {
    const method = methodOf(record);
    if (method === "GET") return false;
    for (const id of idsOf(record)) this.#methods.set(id, method);
    for (const id of this.#methods.keys()) {
      if (this.#methods.size <= MOST_WAITING) break;
      this.#methods.delete(id);
    }
    return true;
  }

  /** Of the request that an answer belongs to; undefined where it asked for the page, or is not known. */
  of(answer: WarcRecord): string | undefined {
    for (const id of idsOf(answer)) {
      const method = this.#methods.get(id);
      if (method !== undefined) return method;
    }
    return undefined;
  }
}

const idsOf = ({ head: { fields } }: WarcRecord): string[] =>
  ["warc-record-id", "warc-concurrent-to"].flatMap((name) => fields.get(name) ?? []);

function methodOf({ head: { fields }, block }: WarcRecord): string {
  if (fields.get("warc-type")?.toLowerCase() !== "request") return "GET";
  return /^([A-Z]{3,20}) /.exec(block.toString("latin1", 0, 32))?.[1] ?? "GET";
}
