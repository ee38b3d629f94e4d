import { expect, test } from "vitest";
import { createBodyBudget } from "../../../../local/gateway/body-budget.ts";

const PATIENT = new AbortController().signal;

test("bodies beyond the budget wait for those before them, in order, a large one not overtaken by a small one", async () => {
  const budget = createBodyBudget(10, 60_000);
  const first = await budget.take(6, PATIENT);
  const second = await budget.take(4, PATIENT);
  const order: string[] = [];
  const large = budget.take(8, PATIENT).then((give) => {
    order.push("large");
    return give;
  });
  const small = budget.take(1, PATIENT).then((give) => {
    order.push("small");
    return give;
  });
  second?.();
  second?.();
  await Promise.resolve();
  expect(order).toEqual([]);
  first?.();
  (await large)?.();
  (await small)?.();
  expect(order).toEqual(["large", "small"]);
  // all is free again, and what is larger than the whole gets the whole
  expect(await budget.take(1000, PATIENT)).toBeTypeOf("function");
});

test("who gives up lets those behind it in, as far as there is room", async () => {
  const budget = createBodyBudget(10, 60_000);
  await budget.take(8, PATIENT);
  const leaving = new AbortController();
  const large = budget.take(5, leaving.signal);
  const small = budget.take(2, PATIENT);
  leaving.abort();
  expect(await large).toBeUndefined();
  expect(await small).toBeTypeOf("function");
});

test("who waits too long, or has left, gets nothing and holds up nobody", async () => {
  const budget = createBodyBudget(10, 50);
  const held = await budget.take(10, PATIENT);
  const leaving = new AbortController();
  const gone = budget.take(5, leaving.signal);
  const late = budget.take(5, PATIENT);
  leaving.abort();
  expect(await gone).toBeUndefined();
  expect(await late).toBeUndefined();
  held?.();
  expect(await budget.take(10, PATIENT)).toBeTypeOf("function");
});
