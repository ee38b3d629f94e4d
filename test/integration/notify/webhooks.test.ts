/** Webhooks from the API to a receiver that is written from docs/guide/webhooks.md alone, and hostile receivers. */
import { createHmac, timingSafeEqual } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo, LookupFunction } from "node:net";
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { api as crawlApi } from "../../../functions/crawl-api/handler.ts";
import { api } from "../../../functions/webhooks-api/handler.ts";
import { createUrlGuard } from "../../../shared/access/url-guard.ts";
import {
  type AttemptMessage,
  type Attempts,
  createAttempts,
  SEND_QUEUE,
} from "../../../shared/notify/webhooks/attempts.ts";
import { recordResult, sendDue } from "../../../shared/notify/webhooks/due.ts";
import { tellJobEnded, tellProgress } from "../../../shared/notify/webhooks/outbox.ts";
import { sendAttempt } from "../../../shared/notify/webhooks/send.ts";
import { inTransaction } from "../../../shared/platform/database/database.ts";
import { createLogger } from "../../../shared/platform/observability/log.ts";
import { callApi } from "../../services/api.ts";
import { memoryQueues } from "../../services/memory-queues.ts";
import { type ApiSetup, setUpApi } from "../functions/api-setup.ts";

/** As the guide has it. */
function verify(secret: string, header: string, body: Buffer, now = Date.now()): boolean {
  const parts = header.split(",").map((part) => part.trim().split("=", 2) as [string, string]);
  const time = parts.find(([name]) => name === "t")?.[1] ?? "";
  if (!/^\d+$/.test(time) || Math.abs(now / 1000 - Number(time)) > 300) return false;
  const expected = createHmac("sha256", secret).update(`${time}.`).update(body).digest();
  return parts.some(([name, value]) => {
    const given = Buffer.from(value ?? "", "hex");
    return name === "v1" && given.length === expected.length && timingSafeEqual(given, expected);
  });
}

interface Received {
  headers: IncomingMessage["headers"];
  body: Buffer;
}

const received: Received[] = [];
let answer: (response: ServerResponse) => void;
const server = createServer(async (request, response) => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  received.push({ headers: request.headers, body: Buffer.concat(chunks) });
  answer(response);
});
let setup: ApiSetup;
let attempts: Attempts;
let origin: string;
const log = createLogger({ function: "test" }, "error");

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  origin = `http://${host}`;
  setup = await setUpApi({ ACCESS__ALLOW_HOSTS: host });
  attempts = createAttempts(setup.aws.dynamo, setup.aws.stateTable);
});
afterEach(async () => {
  received.length = 0;
  answer = (response) => response.writeHead(204).end();
  await setup.database.sql`delete from webhooks`;
});
answer = (response) => response.writeHead(204).end();
afterAll(async () => {
  server.closeAllConnections();
  server.close();
  await setup.close();
});

const call = (method: string, path: string, json?: unknown) =>
  callApi(api, {
    method,
    path: `/api/v1/webhooks${path}`,
    key: setup.keys.admin,
    ...(json === undefined ? {} : { json }),
  });

const guardOf = (lookup?: LookupFunction) =>
  createUrlGuard({ allowHosts: [new URL(origin).host], ...(lookup && { lookup }) });

/** What the two functions do, until nothing is due. */
async function deliver(answerMs = 5_000): Promise<void> {
  const { sql } = setup.database;
  const queues = memoryQueues();
  await sendDue({ sql, queues, attempts, log }, () => true);
  while (queues.waiting(SEND_QUEUE) > 0) {
    for (const message of (await queues.receive(SEND_QUEUE)) as AttemptMessage[]) {
      const attempt = await attempts.read(message);
      if (attempt === undefined) continue;
      const options = { guard: guardOf(), userAgent: "test", now: Date.now, answerMs };
      const result = await sendAttempt(options, message, attempt);
      // a result may come twice
      await recordResult({ sql, log, random: () => 0.5 }, result);
      await recordResult({ sql, log, random: () => 0.5 }, result);
      await attempts.remove(message);
    }
  }
}

const deliveriesOf = async (id: string) => (await call("GET", `/${id}/deliveries`)).body.items;

async function standing(more: Record<string, unknown> = {}) {
  const { status, body } = await call("POST", "", { url: `${origin}/hook`, ...more });
  expect(status).toBe(201);
  return body as { id: string; secret: string };
}

async function job(more: Record<string, unknown> = {}): Promise<string> {
  const path = "/api/v1/crawl";
  const made = await callApi(crawlApi, {
    method: "POST",
    path,
    key: setup.keys.write,
    json: { url: "http://93.184.215.14/", ...more },
  });
  expect(made.status, JSON.stringify(made.body)).toBe(202);
  return made.body.job_id;
}

it("delivers what became of a job, signed, to a receiver that knows the guide alone", async () => {
  const hook = await standing({ headers: { authorization: "Bearer of-mine" } });
  const id = await job();
  // twice, as work that is done again does
  for (let time = 0; time < 2; time += 1) {
    await inTransaction(setup.database.sql, (tx) => tellJobEnded(tx, id, "completed"));
  }
  await deliver();
  expect(received).toHaveLength(1);
  const [{ headers, body }] = received as [Received];
  const signature = String(headers["strandline-signature"]);
  expect(headers).toMatchObject({ authorization: "Bearer of-mine", "strandline-event": "crawl.completed" });
  expect(verify(hook.secret, signature, body)).toBe(true);
  expect(JSON.parse(body.toString())).toMatchObject({
    id: headers["strandline-delivery"],
    event: "crawl.completed",
    data: { job_id: id },
  });
  // altered, of another secret, replayed
  expect(verify(hook.secret, signature, Buffer.from(body.toString().replace("completed", "cancelled")))).toBe(false);
  expect(verify("whsec_of-somebody-else", signature, body)).toBe(false);
  expect(
    verify(
      hook.secret,
      signature.replace(/t=(\d+)/, (_, t) => `t=${Number(t) + 1}`),
      body,
    ),
  ).toBe(false);
  expect(verify(hook.secret, signature, body, Date.now() + 301_000)).toBe(false);
  const [delivery] = await deliveriesOf(hook.id);
  expect(delivery).toMatchObject({ status: "delivered", attempts: 1, response_status: 204, job_id: id });
  expect(delivery.tries).toHaveLength(1);
});

it("signs with both secrets while they rotate, and shows neither again, nor values of headers", async () => {
  const hook = await standing({ headers: { "x-token": "of-mine-alone" } });
  const rotated = await call("POST", `/${hook.id}/rotate`, { overlap_hours: 1 });
  expect(rotated.body).toMatchObject({ secret_count: 2 });
  await call("POST", `/${hook.id}/test`);
  await deliver();
  const [{ headers, body }] = received as [Received];
  for (const secret of [hook.secret, rotated.body.secret]) {
    expect(verify(secret, String(headers["strandline-signature"]), body)).toBe(true);
  }
  await setup.database.sql`
    update webhooks set secrets = jsonb_set(secrets, '{1,until}', to_jsonb(now() - interval '1 second'))`;
  await call("POST", `/${hook.id}/test`);
  await deliver();
  const last = received[1] as Received;
  expect(verify(hook.secret, String(last.headers["strandline-signature"]), last.body)).toBe(false);
  expect(verify(rotated.body.secret, String(last.headers["strandline-signature"]), last.body)).toBe(true);
  const shown = JSON.stringify([
    (await call("GET", "")).body,
    (await call("GET", `/${hook.id}`)).body,
    await deliveriesOf(hook.id),
  ]);
  for (const secret of [hook.secret, rotated.body.secret, "of-mine-alone"]) expect(shown).not.toContain(secret);
});

it("tells a job's own webhook of that job alone, unsigned without a secret, and how it goes on once a minute", async () => {
  const events = { webhook_url: `${origin}/own`, webhook_events: ["crawl.cancelled", "crawl.progress"] };
  const id = await job(events);
  const other = await job();
  const { sql } = setup.database;
  await sql`update jobs set status = 'running' where id = any(${[id, other]})`;
  await tellProgress(sql);
  await tellProgress(sql);
  for (const each of [id, other]) await inTransaction(sql, (tx) => tellJobEnded(tx, each, "cancelled"));
  await deliver();
  const told = received.map(({ body }) => JSON.parse(body.toString()));
  expect(told.map(({ event, data }) => [event, data.job_id]).toSorted()).toEqual([
    ["crawl.cancelled", id],
    ["crawl.progress", id],
  ]);
  expect(received[0]?.headers["strandline-signature"]).toBeUndefined();
  const { body } = await call("GET", `?job_id=${id}`);
  expect(body.items).toHaveLength(1);
  expect((await call("GET", "")).body.items).toEqual([]);
});

it("tries again up to five times, after growing waits or what the receiver asks for, and again by hand", async () => {
  const hook = await standing();
  const id = await job();
  const { sql } = setup.database;
  await inTransaction(sql, (tx) => tellJobEnded(tx, id, "failed"));
  answer = (response) => response.writeHead(503, { "retry-after": "7200" }).end("busy");
  await deliver();
  let [delivery] = await deliveriesOf(hook.id);
  expect(delivery).toMatchObject({ status: "pending", attempts: 1, response_status: 503, response_body: "busy" });
  const [wait] = await sql<{ s: number }[]>`
    select extract(epoch from next_attempt_at - now())::float8 as s from webhook_deliveries`;
  expect(wait?.s).toBeGreaterThan(3600);
  await deliver();
  expect(received).toHaveLength(1);
  for (let time = 0; time < 6; time += 1) {
    await sql`update webhook_deliveries set next_attempt_at = now()`;
    await deliver();
  }
  expect(received).toHaveLength(6);
  expect(new Set(received.map(({ headers }) => headers["strandline-delivery"])).size).toBe(1);
  [delivery] = await deliveriesOf(hook.id);
  expect(delivery).toMatchObject({ status: "failed", attempts: 6, next_attempt_at: null });
  expect(delivery.tries.map((each: { attempt: number }) => each.attempt)).toEqual([1, 2, 3, 4, 5, 6]);
  answer = (response) => response.writeHead(200).end("thanks");
  expect((await call("POST", `/${hook.id}/deliveries/${delivery.id}/redeliver`)).status).toBe(202);
  await deliver();
  expect((await deliveriesOf(hook.id))[0]).toMatchObject({ status: "delivered", attempts: 7, id: delivery.id });
});

it("stops at 410, until it is made active again", async () => {
  const hook = await standing();
  const id = await job();
  const { sql } = setup.database;
  answer = (response) => response.writeHead(410).end();
  await inTransaction(sql, (tx) => tellJobEnded(tx, id, "failed"));
  await deliver();
  const { body } = await call("GET", `/${hook.id}`);
  expect(body).toMatchObject({ is_active: false, stopped_reason: expect.stringContaining("410") });
  await inTransaction(sql, (tx) => tellJobEnded(tx, id, "completed"));
  expect(await deliveriesOf(hook.id)).toMatchObject([{ status: "failed", attempts: 1 }]);
  const again = await call("PUT", `/${hook.id}`, { url: `${origin}/hook`, events: ["crawl.completed"] });
  expect(again.body).toMatchObject({ is_active: true, stopped_reason: null });
});

const HOSTILE: [name: string, react: (response: ServerResponse) => void, error: RegExp | null][] = [
  [
    "redirects to cloud metadata",
    (response) => response.writeHead(307, { location: "http://169.254.169.254/latest/meta-data/" }).end(),
    /redirect, which is not followed/,
  ],
  ["never answers", () => undefined, /No answer came within/],
  [
    "sends a body without an end",
    (response) => {
      response.writeHead(200);
      const more = () => {
        while (response.write("x".repeat(65_536)));
      };
      response.on("drain", more);
      more();
    },
    null,
  ],
  [
    "sends 10 MB of headers",
    (response) => {
      response.socket?.write("HTTP/1.1 200 OK\r\n");
      for (let sent = 0; sent < 10_000; sent += 1) response.socket?.write(`x-${sent}: ${"y".repeat(1_000)}\r\n`);
    },
    /headers of the answer are longer|could not be reached/,
  ],
];

it.each(HOSTILE)("withstands a receiver that %s", async (_name, react, error) => {
  const hook = await standing();
  answer = react;
  await call("POST", `/${hook.id}/test`);
  await deliver(2_000);
  const [delivery] = await deliveriesOf(hook.id);
  expect(delivery.status).toBe(error === null ? "delivered" : "failed");
  if (error !== null) expect(delivery.error).toMatch(error);
  expect((delivery.response_body ?? "").length).toBeLessThanOrEqual(1_000);
  expect(received).toHaveLength(1);
});

it("refuses private addresses when it is made, and at each attempt what a name has come to mean", async () => {
  for (const url of [
    "http://169.254.169.254/",
    "http://10.0.0.1/x",
    "http://localhost:1/",
    "http://[::1]/",
    "ftp://a.b",
  ])
    expect([400, 403], url).toContain((await call("POST", "", { url })).status);
  const rebound: LookupFunction = (_name, _options, done) => done(null, [{ address: "169.254.169.254", family: 4 }]);
  const message = { deliveryId: "0191d2f0-0000-4000-8000-000000000002", attempt: 1 };
  const hook = { url: "http://receiver.example/", event: "webhook.test", headers: {}, secrets: [], body: "{}" };
  const options = { guard: guardOf(rebound), userAgent: "test", now: Date.now };
  const result = await sendAttempt(options, message, hook);
  expect(result).toMatchObject({ status: null, error: expect.stringContaining("169.254.169.254") });
});

it("tells a webhook of one source of that one's jobs alone, and goes with it", async () => {
  const { sql } = setup.database;
  const [source, other] = ["0191d2f0-0000-7000-8000-0000000000a1", "0191d2f0-0000-7000-8000-0000000000a2"];
  for (const id of [source, other]) {
    await sql`insert into crawl_sources (id, name, type, url) values (${id}, 's', 'page', 'https://s.example/')`;
  }
  const call = (json: object) =>
    callApi(api, { path: "/api/v1/webhooks", key: setup.keys.admin, json: { url: `${origin}/s`, ...json } });
  expect(await call({ source_id: "0191d2f0-0000-7000-8000-0000000000a3" })).toMatchObject({ status: 404 });
  const { body: hook } = await call({ source_id: source });
  expect(hook).toMatchObject({ source_id: source, job_id: null });
  const list = (id: string) => callApi(api, { path: `/api/v1/webhooks?source_id=${id}`, key: setup.keys.admin });
  expect([(await list(source)).body.items.length, (await list(other)).body.items.length]).toEqual([1, 0]);
  const ids = ["0191d2f0-0000-7000-8000-0000000000b1", "0191d2f0-0000-7000-8000-0000000000b2"];
  for (const [index, crawlSourceId] of [source, other].entries()) {
    await sql`
      insert into jobs (id, kind, status, generation_id, settings, crawl_source_id)
      values (${ids[index] ?? ""}, 'pages', 'completed', gen_random_uuid(), '{}', ${crawlSourceId})`;
    await inTransaction(sql, (tx) => tellJobEnded(tx, ids[index] ?? "", "completed"));
  }
  expect(await sql`select job_id from webhook_deliveries where webhook_id = ${hook.id}`).toEqual([{ job_id: ids[0] }]);
  await sql`delete from crawl_sources where id = ${source}`;
  expect((await list(source)).body.items).toEqual([]);
});
