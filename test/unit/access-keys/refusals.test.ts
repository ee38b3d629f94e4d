import { expect, it } from "vitest";
import { createGate } from "../../../shared/access/authorize.ts";
import type { Queryable } from "../../../shared/platform/database.ts";

const NOW = Date.parse("2030-01-01T00:00:00Z");

/** A gate over a table that answers every lookup with these rows, and what it was asked. */
function gateOver(rows: (hash: Buffer) => Record<string, unknown>[]) {
  const asked: { lookups: number; counted: number } = { lookups: 0, counted: 0 };
  const sql = ((strings: TemplateStringsArray, ...values: unknown[]) => {
    if (!strings.join("?").includes("where key_hash")) return {};
    asked.lookups += 1;
    return Promise.resolve(rows(values.at(-1) as Buffer));
  }) as unknown as Queryable;
  const limiter = {
    take: async (_: string, limit: number) => {
      asked.counted += 1;
      return { limit, remaining: limit - 1, resetAt: NOW, exceeded: false };
    },
  };
  return { gate: createGate({ sql, limiter, now: () => NOW }), asked };
}

const row = (keyHash: Buffer, changes: Record<string, unknown> = {}) => ({
  id: "k1",
  name: "test",
  scopes: ["read"],
  rateLimitRpm: 60,
  isActive: true,
  expiresAt: null,
  keyHash,
  ...changes,
});

it.each([
  ["missing", undefined, () => [], 401],
  ["unknown", "sl_unknown", () => [], 401],
  ["expired", "sl_key", (hash: Buffer) => [row(hash, { expiresAt: new Date(NOW) })], 401],
  ["revoked", "sl_key", (hash: Buffer) => [row(hash, { isActive: false })], 401],
  ["under-scoped", "sl_key", (hash: Buffer) => [row(hash)], 403],
])("does the same work for a key that is %s: one lookup, and nothing is counted", async (_, key, rows, status) => {
  const { gate, asked } = gateOver(rows);
  await expect(gate.admit(key, "write")).rejects.toMatchObject({ status });
  expect(asked).toEqual({ lookups: 1, counted: 0 });
});

it("tells a missing, an unknown, an expired and a revoked key in the same words", async () => {
  const messages = new Set<string>();
  for (const rows of [
    () => [],
    (hash: Buffer) => [row(hash, { isActive: false })],
    (hash: Buffer) => [row(hash, { expiresAt: new Date(NOW - 1) })],
  ]) {
    await gateOver(rows)
      .gate.admit("sl_key", "read")
      .catch((error: Error) => messages.add(error.message));
  }
  expect(messages.size).toBe(1);
});

it("does not trust a lookup that returns another key's row", async () => {
  const { gate } = gateOver(() => [row(Buffer.alloc(32, 1))]);
  await expect(gate.admit("sl_key", "read")).rejects.toMatchObject({ status: 401 });
});

it("admits a key until the moment it expires", async () => {
  const { gate, asked } = gateOver((hash) => [row(hash, { expiresAt: new Date(NOW + 1) })]);
  await expect(gate.admit("sl_key", "read")).resolves.toMatchObject({ caller: { keyId: "k1" } });
  expect(asked.counted).toBe(1);
});
