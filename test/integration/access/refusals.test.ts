import { afterAll, beforeAll, expect, it } from "vitest";
import { createGate } from "../../../shared/access/authorize.ts";
import { createRateLimiter } from "../../../shared/access/rate-limit.ts";
import type { ApiError } from "../../../shared/platform/errors.ts";
import { sha256 } from "../../../shared/platform/ids.ts";
import { type ApiSetup, setUpApi } from "../functions/api-setup.ts";

let setup: ApiSetup;
beforeAll(async () => {
  setup = await setUpApi();
});
afterAll(() => setup.close());

/** What a presented key makes the gate do, and how it ends. */
async function present(key: string | undefined, now: () => number = Date.now) {
  const { database, aws } = setup;
  const statements: string[] = [];
  const sql = new Proxy(database.sql, {
    apply(target, self, args) {
      statements.push(String(args[0]));
      return Reflect.apply(target, self, args);
    },
  });
  const limiter = createRateLimiter(aws.dynamo, aws.stateTable, now);
  let counted = 0;
  const counting: typeof limiter = {
    take(...request) {
      counted += 1;
      return limiter.take(...request);
    },
  };
  const gate = createGate({ sql, limiter: counting, now });
  const refusal = await gate.admit(key, "write").then(
    () => undefined,
    (error: ApiError) => error,
  );
  return { statements, counted, refusal };
}

/** Of the form of a key, and none of ours. */
const UNKNOWN = `sl_${"x".repeat(43)}`;

it("looks up nothing for what cannot be a key, and says the same", async () => {
  const unknown = await present(UNKNOWN);
  expect(unknown.statements).not.toEqual([]);
  const other = setup.keys.write.endsWith("A") ? "B" : "A";
  const malformed = [
    undefined,
    "",
    "sl_unknown",
    `sl_${"x".repeat(100_000)}`,
    `ghp_${"x".repeat(43)}`,
    `${setup.keys.write}x`,
    setup.keys.write.slice(0, -1),
    setup.keys.write.slice(0, -1) + other,
    setup.keys.write.toUpperCase(),
    `${setup.keys.write}\n`,
  ];
  for (const key of malformed) {
    const { statements, counted, refusal } = await present(key);
    expect({ key, statements, counted }).toEqual({ key, statements: [], counted: 0 });
    expect(refusal).toMatchObject({ status: 401, code: "AUTH_REQUIRED", message: unknown.refusal?.message });
  }
});

it("admits a key of before there were checksums", async () => {
  const { id } = await setup.createKey({ scopes: ["write"] });
  await setup.database.sql`update api_keys set key_hash = ${sha256(UNKNOWN)} where id = ${id}`;
  expect((await present(UNKNOWN)).refusal).toBeUndefined();
  await setup.database.sql`delete from api_keys where id = ${id}`;
});

it("does the same work for a key that is unknown, expired, revoked or under-scoped", async () => {
  const expired = await setup.createKey({ scopes: ["write"], expiresAt: new Date(0) });
  const revoked = await setup.createKey({ scopes: ["write"] });
  await setup.database.sql`update api_keys set is_active = false where id = ${revoked.id}`;

  const unknown = await present(UNKNOWN);
  for (const { statements, counted, refusal } of [unknown, await present(expired.key), await present(revoked.key)]) {
    expect(statements).toEqual(unknown.statements);
    expect(counted).toBe(0);
    expect(refusal).toMatchObject({ status: 401, code: "AUTH_REQUIRED", message: unknown.refusal?.message });
  }
  const underScoped = await present(setup.keys.read);
  expect(underScoped).toMatchObject({ statements: unknown.statements, counted: 0, refusal: { status: 403 } });
});

it("admits a key until the moment it expires, and not from then on", async () => {
  const expiresAt = new Date("2100-01-01T00:00:00Z");
  const { key } = await setup.createKey({ scopes: ["write"], expiresAt });
  expect((await present(key, () => expiresAt.getTime() - 1)).refusal).toBeUndefined();
  expect((await present(key, () => expiresAt.getTime())).refusal).toMatchObject({ status: 401 });
});

it("does not take a key for another that begins with it", async () => {
  expect((await present(`${setup.keys.write}x`)).refusal).toMatchObject({ status: 401 });
  expect((await present(setup.keys.write.slice(0, -1))).refusal).toMatchObject({ status: 401 });
  expect((await present(setup.keys.write)).refusal).toBeUndefined();
});
