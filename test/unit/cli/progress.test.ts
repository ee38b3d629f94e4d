import { expect, it } from "vitest";
import type { JobAnswer } from "../../../cli/jobs-api.ts";
import { createProgress } from "../../../cli/progress.ts";
import { columnsOf, createTerminal } from "../../../cli/terminal.ts";

const REDRAW = "\r\x1b[2K";

type Changes = Partial<Omit<JobAnswer, "counts">> & { counts?: Partial<JobAnswer["counts"]> };

function job(changes: Changes = {}): JobAnswer {
  const counts = {
    discovered: 0,
    open: 0,
    crawled: 0,
    failed: 0,
    skipped: 0,
    documents: 0,
    chunks: 0,
    unembedded_chunks: 0,
  };
  return {
    job_id: "j",
    kind: "site",
    status: "running",
    stop_reason: null,
    error: null,
    settings: { seeds: ["https://a.example/"], max_pages: 100 },
    waits: [],
    created_at: "",
    started_at: null,
    completed_at: null,
    ...changes,
    counts: { ...counts, ...changes.counts },
  };
}

function follow(states: [atMs: number, job: JobAnswer][], { isTTY = false, columns = 80 } = {}): string {
  const written: string[] = [];
  let now = 0;
  const terminal = createTerminal({ isTTY, columns, write: (piece) => written.push(piece) }, {});
  const progress = createProgress(terminal, () => now);
  for (const [at, state] of states) {
    now = at;
    progress.update([state]);
  }
  progress.end();
  return written.join("");
}

const half = job({ counts: { discovered: 100, open: 48, crawled: 50, failed: 2, chunks: 60, unembedded_chunks: 60 } });

it("redraws one line on a terminal, with pages, rate, queue and errors", () => {
  const text = follow(
    [
      [0, job()],
      [1_000, half],
    ],
    { isTTY: true },
  );
  expect(text.split("\n")).toHaveLength(2);
  const last = text.split(REDRAW).at(-1) ?? "";
  expect(last).toContain("█");
  expect(last).toContain("running: 50 pages, 52.0/s, 48 queued, 2 errors");
});

it("writes plain lines elsewhere: no escape sequence, at most one in two seconds, none twice", () => {
  const text = follow([
    [0, job()],
    [500, half],
    [1_000, half],
    [2_000, half],
    [9_000, half],
  ]);
  for (const drawing of ["\x1b", "\r", "█"]) expect(text).not.toContain(drawing);
  const lines = text.trimEnd().split("\n");
  expect(lines.length).toBeLessThanOrEqual(3);
  expect(new Set(lines).size).toBe(lines.length);
});

it.each([40, 80])("fits %i columns", (columns) => {
  const text = follow([[0, job({ counts: { discovered: 1e6, open: 1e6, crawled: 1e6, failed: 1e6, skipped: 1e6 } })]], {
    isTTY: true,
    columns,
  });
  for (const line of text.replaceAll(REDRAW, "\n").split("\n")) expect(columnsOf(line)).toBeLessThan(columns);
});

it("says how many chunks still wait for their vector once the pages are done", () => {
  const embedding = job({
    status: "embedding",
    counts: { discovered: 10, crawled: 10, chunks: 30, unembedded_chunks: 12 },
  });
  expect(follow([[0, embedding]])).toContain("embedding: 10 pages, 0 errors, 12 chunks to embed");
});

it("says which host the job waits for", () => {
  const until = new Date(2026, 0, 5, 10, 5, 30).toISOString();
  const waiting = job({ counts: { discovered: 10, open: 10 }, waits: [{ host: "a.example", until }] });
  expect(follow([[0, waiting]])).toContain("0 errors, waits for a.example until 10:05:30");
});
