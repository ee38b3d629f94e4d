import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server } from "node:net";
import { setTimeout } from "node:timers/promises";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { handler } from "../../../../functions/migrate/handler.ts";
import { sha256 } from "../../../../shared/platform/ids.ts";
import { testDatabase } from "../../../services/index.ts";

let database: Awaited<ReturnType<typeof testDatabase>>;
beforeAll(async () => {
  database = await testDatabase();
  vi.stubEnv("DATABASE__POSTGRES_URL", database.url);
});
afterAll(() => vi.unstubAllEnvs());

async function listening(server: Server): Promise<AddressInfo> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return server.address() as AddressInfo;
}

test("a schema that is up to date stays as it is, and no key is made unasked", async () => {
  expect(await handler()).toEqual({ applied: [] });
  expect(await handler({ RequestType: "Create" })).toEqual({ applied: [] });
  expect(await database.sql`select 1 from api_keys`).toHaveLength(0);
});

test("the first admin key is made once, however often and at once it is asked for", async () => {
  const outcomes = await Promise.allSettled([1, 2, 3].map(() => handler({ first_admin_key: true })));
  const made = outcomes.filter((each) => each.status === "fulfilled").map(({ value }) => value.admin_key);
  expect(made).toEqual([expect.stringMatching(/^sl_/)]);
  const keys = await database.sql<{ hash: Buffer; scopes: string[] }[]>`select key_hash as hash, scopes from api_keys`;
  expect(keys).toEqual([{ hash: sha256(made[0] ?? ""), scopes: ["admin"] }]);
  await expect(handler({ first_admin_key: true })).rejects.toMatchObject({ code: "ADMIN_KEY_EXISTS" });
});

test("a database that is still asleep is waited for", async () => {
  const { hostname, port } = new URL(database.url);
  const asleep = createServer();
  const address = await listening(asleep);
  await new Promise((closed) => asleep.close(closed));
  const awake = createServer((client) => {
    const server = connect(Number(port), hostname);
    client.pipe(server).pipe(client);
    for (const socket of [client, server]) socket.on("error", () => {});
  });
  const url = new URL(database.url);
  url.port = String(address.port);
  vi.stubEnv("DATABASE__POSTGRES_URL", url.href);
  try {
    const migrated = handler();
    await setTimeout(300);
    awake.listen(address.port, "127.0.0.1");
    expect(await migrated).toEqual({ applied: [] });
  } finally {
    vi.stubEnv("DATABASE__POSTGRES_URL", database.url);
    awake.close();
  }
});

test("connections close by themselves when a frozen container leaves them idle", async () => {
  const [row] = await database.sql`select current_setting('idle_session_timeout') as timeout`;
  expect(row?.["timeout"]).toBe("5min");
});
