/** Hostile requests over a real connection: each is refused by its code, stores nothing and is told no secret. */
import { connect } from "node:net";
import postgres from "postgres";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { RunningInstance } from "../../services/instance.ts";
import { sharedRuntime } from "../../services/shared-runtime.ts";
import { type HostileRequest, hostileRequests } from "./hostile-requests.ts";

let runtime: RunningInstance;
let sql: postgres.Sql;
let made: { id: string; key: string };
beforeAll(async () => {
  runtime = await sharedRuntime();
  sql = postgres(runtime.postgresUrl, { max: 1, onnotice: () => {} });
  made = await runtime.call("POST", "/api/v1/api-keys", {
    name: "hostile",
    scopes: ["read", "write", "admin"],
    rate_limit_rpm: 100_000,
  });
});
afterAll(async () => {
  await sql?.end();
});

/** The answer, to the end of the connection. */
async function send({ bytes }: HostileRequest): Promise<string> {
  const { hostname, port } = new URL(runtime.url);
  const { promise, resolve } = Promise.withResolvers<string>();
  const pieces: Buffer[] = [];
  const socket = connect(Number(port), hostname, () => socket.write(bytes));
  socket.on("data", (piece) => pieces.push(piece));
  // what is refused before it was read to its end is cut
  socket.on("error", () => {});
  socket.on("close", () => resolve(Buffer.concat(pieces).toString("latin1")));
  // whoever keeps the connection has answered
  socket.setTimeout(20_000, () => socket.destroy());
  return await promise;
}

const REQUESTS = hostileRequests({ key: "KEY", host: "HOST" });

it("has at least 40 of them", () => {
  expect(REQUESTS.length).toBeGreaterThan(80);
});

it("refuses each by its code, and goes on", async () => {
  const all = hostileRequests({ key: made.key, host: new URL(runtime.url).host });
  const wrong: string[] = [];
  for (const request of all) {
    const answer = await send(request);
    const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(answer)?.[1] ?? 0);
    const secrets = [made.key, runtime.apiKey, "node_modules", "at Object.", "/etc/passwd:"];
    const told = secrets.filter((secret) => answer.includes(secret));
    if (status !== request.status || told.length > 0) {
      wrong.push(`${request.what}: ${status} instead of ${request.status}; tells ${told}: ${answer.slice(-300)}`);
    }
  }
  expect(wrong).toEqual([]);
  const [stored] = await sql`
    select (select count(*)::int from jobs where api_key_id = ${made.id}) as jobs,
      (select count(*)::int from warc_imports where api_key_id = ${made.id}) as imports,
      (select count(*)::int from idempotency_keys where api_key_id = ${made.id}) as keys,
      (select count(*)::int from frontier where host = 'hostile.example') as urls`;
  expect(stored).toEqual({ jobs: 0, imports: 0, keys: 0, urls: 0 });
  expect(await runtime.call("GET", "/api/v1/jobs?limit=1")).toMatchObject({ items: expect.anything() });
});
