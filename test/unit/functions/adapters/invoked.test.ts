import { expect, test } from "vitest";
import { z } from "zod";
import { createInvokedHandler } from "../../../../functions/adapters/invoked/handler.ts";

const handler = createInvokedHandler({
  schema: z.object({ name: z.string().default("nobody") }),
  handle: async ({ name }, { remainingMs }) => ({ name, remaining: remainingMs() }),
});

test("an event is parsed, one that is left out is an empty object", async () => {
  const context = { getRemainingTimeInMillis: () => 7 };
  expect(await handler({ name: "me", more: 1 }, context)).toEqual({ name: "me", remaining: 7 });
  expect(await handler()).toEqual({ name: "nobody", remaining: Number.POSITIVE_INFINITY });
  expect(await handler(null)).toMatchObject({ name: "nobody" });
});

test("an event of another shape is refused", async () => {
  await expect(handler({ name: 1 })).rejects.toMatchObject({ name: "PermanentError", code: "MESSAGE_INVALID" });
});
