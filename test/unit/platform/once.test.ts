import { expect, test } from "vitest";
import { once, onceMade } from "../../../shared/platform/once.ts";

test("what is made once is made at the first call and kept, even where it is undefined", () => {
  let calls = 0;
  const made = once(() => {
    calls += 1;
  });
  expect(calls).toBe(0);
  made();
  made();
  expect(calls).toBe(1);
});

test("a failure to make it is told to all who wait, and not kept for the next caller", async () => {
  let calls = 0;
  const made = onceMade(async () => {
    calls += 1;
    if (calls === 1) throw new Error("the store is down");
    return calls;
  });
  await expect(Promise.all([made(), made()])).rejects.toThrow("the store is down");
  expect(await Promise.all([made(), made()])).toEqual([2, 2]);
  expect(await made()).toBe(2);
});
