import { expect, test } from "vitest";
import { BlockList, type Listing } from "../../../console/app/lists/block-list.ts";

const rowsFrom = (start: number, count: number): number[] => Array.from({ length: count }, (_, at) => start + at);

/** Rows that are their own place, by number. */
function numbered(total: () => number, asked: string[] = []): Listing<number> {
  return {
    size: 10,
    cursorOf: (block) => String(block * 10),
    async read(cursor = "0") {
      asked.push(cursor);
      const start = Number(cursor);
      return { items: rowsFrom(start, Math.max(0, Math.min(10, total() - start))), next: "x", total: total() };
    },
  };
}

/** The same, each block known by the one before alone. */
function chained(total: number, asked: string[] = [], counts = true): Listing<number> {
  return {
    size: 10,
    async read(cursor = "0") {
      asked.push(cursor);
      const start = Number(cursor);
      const items = rowsFrom(start, Math.min(10, total - start));
      const end = start + items.length;
      return { items, next: end < total ? String(end) : null, ...(counts && start === 0 ? { total } : {}) };
    },
  };
}

test("reads a numbered list where it is looked at, and nothing before", async () => {
  const asked: string[] = [];
  const rows = new BlockList(
    numbered(() => 50_000, asked),
    () => {},
  );
  rows.want(0, 5);
  await expect.poll(() => rows.at(3)).toBe(3);
  rows.want(40_003, 40_015);
  await expect.poll(() => rows.at(40_014)).toBe(40_014);
  expect(asked).toEqual(["0", "40000", "40010"]);
  expect(rows.count).toBe(50_000);
});

test("goes on from block to block to what is looked at in a list without numbers", async () => {
  const asked: string[] = [];
  const rows = new BlockList(chained(1_000, asked), () => {});
  rows.want(0, 5);
  await expect.poll(() => rows.at(0)).toBe(0);
  expect(rows.count).toBe(1_000);
  rows.want(500, 510);
  await expect.poll(() => rows.at(505)).toBe(505);
  expect(asked).toHaveLength(51);
  rows.want(200, 210);
  await expect.poll(() => rows.at(205)).toBe(205);
  // it was forgotten meanwhile, and its beginning was not
  expect(asked).toHaveLength(52);
});

test("keeps no more than some blocks", async () => {
  const rows = new BlockList(
    numbered(() => 50_000),
    () => {},
  );
  for (let at = 0; at < 1_000; at += 10) {
    rows.want(at, at + 10);
    await expect.poll(() => rows.at(at)).toBe(at);
  }
  const kept = rowsFrom(0, 1_000).filter((at) => rows.at(at) !== undefined);
  expect(kept).toEqual(rowsFrom(760, 240));
});

test("counts what it has seen, and one more, where the API counts nothing", async () => {
  const rows = new BlockList(chained(25, [], false), () => {});
  rows.want(0, 1);
  await expect.poll(() => rows.count).toBe(11);
  rows.want(10, 11);
  await expect.poll(() => rows.count).toBe(21);
  rows.want(20, 21);
  await expect.poll(() => rows.count).toBe(25);
});

test("has the rows that came while it was looked at", async () => {
  let total = 0;
  const rows = new BlockList(
    numbered(() => total),
    () => {},
  );
  rows.want(0, 10);
  await expect.poll(() => rows.isCounted).toBe(true);
  for (total of [3, 9, 14]) {
    rows.refresh();
    await expect.poll(() => rows.count).toBe(total);
    rows.want(0, 14);
    await expect.poll(() => rows.at(total - 1)).toBe(total - 1);
  }
});

test("finds a row beyond those that are there, from a place on, and says when there is none", async () => {
  const { signal } = new AbortController();
  const passed: number[] = [];
  for (const listing of [numbered(() => 95), chained(95)]) {
    const rows = new BlockList(listing, () => {});
    rows.want(0, 1);
    await expect.poll(() => rows.at(0)).toBe(0);
    expect(
      await rows.seek(
        (row) => row % 40 === 0,
        1,
        signal,
        (count) => passed.push(count),
      ),
    ).toBe(40);
    expect(
      await rows.seek(
        (row) => row % 40 === 0,
        41,
        signal,
        () => {},
      ),
    ).toBe(80);
    expect(
      await rows.seek(
        (row) => row % 40 === 0,
        81,
        signal,
        () => {},
      ),
    ).toBeUndefined();
  }
  expect(passed.slice(0, 4)).toEqual([10, 20, 30, 40]);
});

test("tells of what went wrong, and reads again when it is asked to", async () => {
  let isDown = true;
  const faults: unknown[] = [];
  const { read, ...rest } = numbered(() => 20);
  const rows = new BlockList<number>(
    { ...rest, read: (...given) => (isDown ? Promise.reject(new Error("down")) : read(...given)) },
    (fault) => faults.push(fault),
  );
  rows.want(0, 1);
  await expect.poll(() => faults).toEqual([new Error("down")]);
  isDown = false;
  rows.want(0, 1);
  await expect.poll(() => rows.at(0)).toBe(0);
  expect(faults.at(-1)).toBeUndefined();
});
