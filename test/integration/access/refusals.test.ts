import { afterAll, beforeAll, expect, it } from "vitest";
import { findApiKey, limitApiKey, revokeApiKey } from "../../../shared/access/api-keys.ts";
import { createGate } from "../../../shared/access/authorize.ts";
import { createKeyCache } from "../../../shared/access/key-cache.ts";
import { createRateLimiter } from "../../../shared/access/rate-limit.ts";
import type { ApiError } from "../../../shared/platform/errors.ts";
import { sha256 } from "../../../shared/platform/ids.ts";
import { unknownKey } from "../../services/unknown-key.ts";
import { type ApiSetup, setUpApi } from "../functions/api-setup.ts";

let setup: ApiSetup;
beforeAll(async () => {
  setup = await setUpApi();
});
afterAll(() => setup.close());

/** What a presented key makes the gate do, and how it ends. */
async function present(key: string | undefined, { now = Date.now, address }: Partial<Presented> = {}) {
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
    take(who, limit) {
      if (!who.startsWith("look-up#")) counted += 1;
      return limiter.take(who, limit);
    },
  };
  const gate = createGate({ sql, limiter: counting, cache: createKeyCache(aws.dynamo, aws.stateTable, now), now });
  const refusal = await gate.admit(key, "write", { address }).then(
    () => undefined,
    (error: ApiError) => error,
  );
  return { statements, counted, refusal };
}

interface Presented {
  now: () => number;
  address: string;
}

const UNKNOWN = unknownKey();
const cacheAt = (now?: () => number) => createKeyCache(setup.aws.dynamo, setup.aws.stateTable, now);
const later = (seconds: number) => () => Date.now() + seconds * 1000;

it("looks up nothing for what cannot be a key, and says the same", async () => {
  const unknown = await present(UNKNOWN);
  expect(unknown.statements).not.toEqual([]);
  const other = setup.keys.write.endsWith("A") ? "B" : "A";
  const malformed = [
    undefined,
    "",
    "sl_unknown",
    `sl_${"x".repeat(100_000)}`,
    // as keys were made before they had checksums
    `sl_${"x".repeat(43)}`,
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

it("does the same work for a key that is unknown, expired, revoked or under-scoped", async () => {
  const expired = await setup.createKey({ scopes: ["write"], expiresAt: new Date(0) });
  const revoked = await setup.createKey({ scopes: ["write"] });
  await setup.database.sql`update api_keys set is_active = false where id = ${revoked.id}`;

  const unknown = await present(unknownKey("y"));
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
  expect((await present(key, { now: () => expiresAt.getTime() - 1 })).refusal).toBeUndefined();
  expect((await present(key, { now: () => expiresAt.getTime() })).refusal).toMatchObject({ status: 401 });
});

it("does not take a key for another that begins with it", async () => {
  expect((await present(`${setup.keys.write}x`)).refusal).toMatchObject({ status: 401 });
  expect((await present(setup.keys.write.slice(0, -1))).refusal).toMatchObject({ status: 401 });
  expect((await present(setup.keys.write)).refusal).toBeUndefined();
});

it("asks the database once in five minutes for a key that is in use", async () => {
  const { key } = await setup.createKey({ scopes: ["write"] });
  expect((await present(key)).statements).not.toEqual([]);
  for (const now of [Date.now, later(290)]) {
    expect(await present(key, { now })).toEqual({ statements: [], counted: 1, refusal: undefined });
  }
  expect((await present(key, { now: later(301) })).statements).not.toEqual([]);
});

it("asks the database once a day for a key that admits nobody", async () => {
  const { id, key } = await setup.createKey({ scopes: ["write"] });
  await setup.database.sql`update api_keys set is_active = false where id = ${id}`;
  for (const refused of [key, unknownKey("z")]) {
    expect((await present(refused)).statements).not.toEqual([]);
    const again = await present(refused, { now: later(86_000) });
    expect(again).toMatchObject({ statements: [], counted: 0, refusal: { status: 401, code: "AUTH_REQUIRED" } });
    expect((await present(refused, { now: later(86_401) })).statements).not.toEqual([]);
  }
});

it("refuses a key from the moment on that it is revoked, and what was read of it before is kept no more", async () => {
  const { id, key } = await setup.createKey({ scopes: ["write"] });
  expect((await present(key)).refusal).toBeUndefined();
  const before = await findApiKey(setup.database.sql, sha256(key));
  await revokeApiKey({ sql: setup.database.sql, cache: cacheAt() }, id);
  await cacheAt().keep(sha256(key), before);
  expect((await present(key)).refusal).toMatchObject({ status: 401 });
  expect((await present(key, { now: later(119) })).statements).not.toEqual([]);
  // from then on it is refused as any other
  expect((await present(key, { now: later(121) })).refusal).toMatchObject({ status: 401 });
  expect((await present(key, { now: later(122) })).statements).toEqual([]);
});

it("holds a key to its collections from its next request on, however many come meanwhile", async () => {
  const { sql } = setup.database;
  const { id, key } = await setup.createKey({ scopes: ["write"] });
  const [collection] = await sql<{ id: string }[]>`
    insert into collections (id, name) values (gen_random_uuid(), 'limits') returning id`;
  expect((await present(key)).refusal).toBeUndefined();
  await limitApiKey({ sql, cache: cacheAt() }, id, { collectionIds: [collection?.id ?? ""] });
  for (let request = 0; request < 70; request++) {
    expect((await present(key, { address: "192.0.2.9" })).refusal).toMatchObject({ status: 403 });
  }
  await limitApiKey({ sql, cache: cacheAt() }, id, { collectionIds: null });
  expect((await present(key)).refusal).toBeUndefined();
});

it("does not ask the database for more than 60 keys a minute that one address presents", async () => {
  const now = () => new Date("2100-01-01T00:00:00Z").getTime();
  const stranger = { now, address: "192.0.2.1" };
  const keys = Array.from({ length: 61 }, (_, n) => unknownKey(`k${n}`));
  const outcomes = [];
  for (const key of keys) outcomes.push(await present(key, stranger));
  expect(outcomes.slice(0, 60).every(({ refusal }) => refusal?.status === 401)).toBe(true);
  expect(outcomes[60]).toMatchObject({ statements: [], refusal: { status: 429, code: "RATE_LIMITED" } });
  // what is known of keys is still told, and others are asked for
  expect((await present(keys[0], stranger)).refusal).toMatchObject({ status: 401 });
  expect((await present(setup.keys.write, { ...stranger, address: "192.0.2.2" })).refusal).toBeUndefined();
});
