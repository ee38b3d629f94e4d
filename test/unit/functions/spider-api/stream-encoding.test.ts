import { expect, test } from "vitest";
import { encodeItem } from "../../../../functions/spider-api/stream-encoding.ts";
import type { CrawledPage } from "../../../../shared/crawl/results/pages.ts";

/** Where some readers of lines end one, Python's `splitlines` among them. */
const TERMINATORS = "\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029";

test.each([
  ["application/x-ndjson", ""],
  ["text/event-stream", "id: 1\ndata: "],
] as const)("a record of %s is one line, whatever a reader takes for the end of one", (type, before) => {
  const page = { url: "https://a.example/", depth: 0, status_code: 200, content: `x${TERMINATORS}y` } as CrawledPage;
  const record = encodeItem({ type: "page", cursor: 1, page }, type).slice(before.length).trimEnd();
  expect([...TERMINATORS].filter((terminator) => record.includes(terminator))).toEqual([]);
  expect(JSON.parse(record)).toEqual({ type: "page", data: page });
});
