/** Proxy configs through their API, and trials by the function that has internet. */
import { ReceiveMessageCommand } from "@aws-sdk/client-sqs";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { api as crawlApi } from "../../../../functions/crawl-api/handler.ts";
import { api } from "../../../../functions/proxies-api/handler.ts";
import { handler as tryProxies } from "../../../../functions/proxy-test/handler.ts";
import { createProxyStates } from "../../../../shared/crawl/proxies/store.ts";
import { uuidv7 } from "../../../../shared/platform/ids.ts";
import { callApi } from "../../../services/api.ts";
import { startProxy } from "../../../services/proxy-server.ts";
import { startSite } from "../../../sites/site.ts";
import { type ApiSetup, setUpApi } from "../api-setup.ts";

const SECRET = "tr0ub4dor-and-3";
let setup: ApiSetup;
const output: string[] = [];
/** Bodies of the remote call queue, as they were. */
const messages: string[] = [];
let stopped = false;
let delivering: Promise<void>;

beforeAll(async () => {
  setup = await setUpApi({ ACCESS__ALLOW_HOSTS: "127.0.0.1,proxy.test", LOG_LEVEL: "debug" });
  vi.spyOn(process.stdout, "write").mockImplementation((text) => {
    output.push(String(text));
    return true;
  });
  delivering = deliver();
});
afterAll(async () => {
  stopped = true;
  await delivering;
  await setup.close();
});

/** The queue service: hands remote calls to the function. */
async function deliver(): Promise<void> {
  const { sqs, queueUrlPrefix } = setup.aws;
  const QueueUrl = `${queueUrlPrefix}proxy-test`;
  while (!stopped) {
    const { Messages = [] } = await sqs.send(new ReceiveMessageCommand({ QueueUrl, WaitTimeSeconds: 1 }));
    for (const { Body = "", MessageId = "", ReceiptHandle = "" } of Messages) {
      messages.push(Body);
      const attributes = {
        ApproximateReceiveCount: "1",
        SentTimestamp: "0",
        SenderId: "",
        ApproximateFirstReceiveTimestamp: "0",
      };
      const record = {
        messageId: MessageId,
        receiptHandle: ReceiptHandle,
        body: Body,
        attributes,
        messageAttributes: {},
        md5OfBody: "",
      };
      const eventSourceARN = `arn:aws:sqs:us-east-1:000000000000:${queueUrlPrefix.split("/").at(-1)}proxy-test`;
      await tryProxies(
        { Records: [{ ...record, eventSource: "aws:sqs", eventSourceARN, awsRegion: "us-east-1" }] },
        { getRemainingTimeInMillis: () => 30_000 },
      );
    }
  }
}

const call = (method: string, path: string, json?: unknown, key = setup.keys.admin) =>
  callApi(api, { method, path: `/api/v1/proxies${path}`, key, ...(json === undefined ? {} : { json }) });
const shared = (id: string) => createProxyStates(setup.aws.dynamo, setup.aws.stateTable).read(id);
const server = { url: "HTTP://Proxy.Test:3128/", username: "u", password: SECRET };
const config = (name: string, more: Record<string, unknown> = {}) => ({ name, servers: [server], ...more });

it("creates, shows, lists, replaces and removes configs, without ever showing a password, and shares each with fetch", async () => {
  const created = await call("POST", "", config("first", { rotation_strategy: "least_used" }));
  expect(created).toMatchObject({
    status: 201,
    body: {
      name: "first",
      servers: [{ url: "http://proxy.test:3128", username: "u", has_password: true }],
      rotation_strategy: "least_used",
      is_active: true,
    },
  });
  const { id } = created.body;
  const kept = { url: "http://proxy.test:3128", username: "u", password: SECRET };
  expect(await shared(id)).toEqual({ servers: [kept], rotation: "least_used", active: true });
  expect((await call("GET", `/${id}`, undefined, setup.keys.read)).body).toEqual(created.body);
  const second = await call("POST", "", config("second"));
  expect((await call("GET", "?limit=1")).body).toMatchObject({ items: [{ id: second.body.id }], has_more: true });

  const servers = [
    { url: "http://proxy.test:3128", username: "u" },
    { url: "socks5h://127.0.0.1:1080", username: "other", password: null },
  ];
  const replaced = await call("PUT", `/${id}`, { name: "renamed", servers, is_active: false });
  expect(replaced).toMatchObject({
    status: 200,
    body: { name: "renamed", is_active: false, servers: [{ has_password: true }, { has_password: false }] },
  });
  expect(await shared(id)).toMatchObject({ servers: [kept, { username: "other" }], active: false });
  await call("PUT", `/${id}`, { name: "renamed", servers: [{ url: kept.url, username: "u", password: null }] });
  expect((await shared(id))?.servers).toEqual([{ url: kept.url, username: "u" }]);

  expect(await call("DELETE", `/${id}`)).toMatchObject({ status: 204 });
  expect(await shared(id)).toBeUndefined();
  for (const method of ["GET", "DELETE"]) expect(await call(method, `/${id}`)).toMatchObject({ status: 404 });
  expect(await call("PUT", `/${id}`, config("x"))).toMatchObject({ status: 404, body: { code: "NOT_FOUND" } });
});

it("keeps nothing where it could not be shared with fetch", async () => {
  const { stateTable } = setup.aws;
  const names = async () => (await setup.database.sql`select name from proxy_configs`).map(({ name }) => name);
  const before = await names();
  const { createProxyConfig } = await import("../../../../shared/crawl/administration/proxy-configs.ts");
  const proxies = createProxyStates(setup.aws.dynamo, `${stateTable}-gone`);
  const creating = createProxyConfig(
    { sql: setup.database.sql, proxies },
    { name: "unshared", servers: [server], rotation: "random", active: true },
  );
  await expect(creating).rejects.toThrow();
  expect(await names()).toEqual(before);
});

it.each([
  [{ servers: [] }, "servers"],
  [{ servers: [server, { url: "proxy.test:3128" }] }, "servers[1].url"],
  [{ servers: [{ url: `http://u:${SECRET}@proxy.test:3128` }] }, "servers[0].url"],
  [{ servers: [{ url: "ftp://proxy.test:21" }] }, "servers[0].url"],
  [{ servers: [server, { url: "http://10.0.0.1:3128" }] }, "servers[1].url"],
  [{ servers: [{ url: "http://metadata.google.internal:80" }] }, "servers[0].url"],
  [{ servers: [{ ...server, username: "a:b" }] }, "servers[0].username"],
  [{ servers: [{ url: server.url, password: SECRET }] }, "servers[0].username"],
  [{ servers: [{ ...server, password: "x".repeat(256) }] }, "servers[0].password"],
  [{ servers: [server, { ...server, url: "http://proxy.test:3128" }] }, "servers"],
  [{ rotation_strategy: "sticky" }, "rotation_strategy"],
  [{ name: " " }, "name"],
  [{ surprise: 1 }, "surprise"],
])("refuses %j by the name of what is wrong", async (more, path) => {
  const { status, body } = await call("POST", "", config("bad", more));
  expect({ status, code: body.code }).toEqual({ status: 400, code: "VALIDATION_ERROR" });
  expect(body.details.faults.map((fault: { path: string }) => fault.path)).toEqual([path]);
  expect(JSON.stringify(body)).not.toContain(SECRET);
});

it("takes a name once, and lets only admins change anything", async () => {
  await call("POST", "", config("taken"));
  expect(await call("POST", "", config("taken"))).toMatchObject({ status: 409, body: { code: "CONFLICT" } });
  const { body } = await call("POST", "", config("other"));
  expect(await call("PUT", `/${body.id}`, config("taken"))).toMatchObject({ status: 409, body: { code: "CONFLICT" } });
  for (const key of [setup.keys.read, setup.keys.write]) {
    expect(await call("POST", "", config("mine"), key)).toMatchObject({ status: 403 });
    expect(await call("POST", "/test", { proxy_id: body.id }, key)).toMatchObject({ status: 403 });
    expect(await call("DELETE", `/${body.id}`, undefined, key)).toMatchObject({ status: 403 });
  }
});

it("a server without a user name may say so with null, as answers do", async () => {
  const servers = [{ url: "http://127.0.0.1:3199", username: null, password: null }];
  const { status, body } = await call("POST", "", { name: "nobody", servers });
  expect([status, body.servers]).toEqual([
    201,
    [{ url: "http://127.0.0.1:3199", username: null, has_password: false }],
  ]);
});

it("a job is refused where its proxy is unknown or switched off, and taken where it renders", async () => {
  const crawl = (more: Record<string, unknown>) =>
    callApi(crawlApi, {
      path: "/api/v1/crawl",
      key: setup.keys.write,
      json: { url: "http://127.0.0.1:1/", config: more },
    });
  expect(await crawl({ proxy_id: uuidv7() })).toMatchObject({ status: 404, body: { code: "NOT_FOUND" } });
  const { body } = await call("POST", "", config("for jobs"));
  expect(await crawl({ proxy_id: body.id, render: "auto" })).toMatchObject({ status: 202 });
  expect(await crawl({ proxy_id: body.id })).toMatchObject({ status: 202 });
  await call("PUT", `/${body.id}`, config("for jobs", { is_active: false }));
  expect(await crawl({ proxy_id: body.id })).toMatchObject({ status: 409, body: { code: "PROXY_INACTIVE" } });
});

it("tries a server: what works and what does not are told apart", async () => {
  await using site = await startSite({ "/": { body: "ok" }, "/missing": { status: 404 } });
  const credentials = { username: "u", password: SECRET };
  await using http = await startProxy({ kind: "http", credentials });
  await using socks = await startProxy({ kind: "socks5", credentials });
  await using garbage = await startProxy({ kind: "http", misbehaviour: "garbage" });
  await using unreachable = await startProxy({ kind: "socks5", misbehaviour: "unreachable" });
  const closed = await startProxy({ kind: "http" });
  await closed.close();
  const test = async (proxy: unknown, path = "/") =>
    (await call("POST", "/test", { server: proxy, url: site.origin + path })).body;
  const good = await test({ url: http.url, ...credentials });
  expect(good).toMatchObject({
    success: true,
    results: [{ server: http.url, success: true, status: 200, error_code: null }],
  });
  expect(good.results[0].latency_ms).toBeGreaterThanOrEqual(0);
  expect(await test({ url: socks.url, ...credentials }, "/missing")).toMatchObject({
    success: true,
    results: [{ status: 404 }],
  });
  for (const [proxy, code] of [
    [{ url: http.url, username: "u", password: `${SECRET}?` }, "PROXY_AUTH_FAILED"],
    [{ url: socks.url }, "PROXY_AUTH_FAILED"],
    [{ url: closed.url }, "PROXY_CONNECT_FAILED"],
    [{ url: garbage.url }, "PROXY_PROTOCOL_ERROR"],
    [{ url: `http://${site.host}` }, "PROXY_PROTOCOL_ERROR"],
    [{ url: unreachable.url }, "TARGET_UNREACHABLE"],
  ] as const) {
    expect(await test(proxy)).toMatchObject({
      success: false,
      results: [{ success: false, status: null, error_code: code, error: expect.any(String) }],
    });
  }

  const servers = [{ url: http.url, ...credentials }, { url: garbage.url }];
  const stored = await call("POST", "", { name: "two", servers });
  expect((await call("POST", "/test", { proxy_id: stored.body.id, url: `${site.origin}/` })).body).toMatchObject({
    success: false,
    results: [{ success: true }, { success: false, error_code: "PROXY_PROTOCOL_ERROR" }],
  });
  // what was corrected a second ago is what is tried
  await call("PUT", `/${stored.body.id}`, { name: "two", servers: servers.slice(0, 1) });
  expect((await call("POST", "/test", { proxy_id: stored.body.id, url: `${site.origin}/` })).body.success).toBe(true);
});

it("refuses to try what it may not: no server, two, a private address, an unknown config", async () => {
  const test = (json: unknown) => call("POST", "/test", json);
  expect(await test({})).toMatchObject({ status: 400 });
  expect(await test({ proxy_id: uuidv7(), server })).toMatchObject({ status: 400 });
  expect(await test({ proxy_id: uuidv7() })).toMatchObject({ status: 404 });
  expect(await test({ server: { url: "http://192.168.1.1:3128" } })).toMatchObject({
    status: 400,
    body: { details: { faults: [{ path: "server.url" }] } },
  });
  expect(await test({ server, url: "http://169.254.169.254/" })).toMatchObject({
    status: 403,
    body: { code: "URL_BLOCKED" },
  });
  expect(await test({ server, url: "nonsense" })).toMatchObject({ status: 400, body: { code: "URL_INVALID" } });
});

it("lets no password into a log line, an answer or a queue", () => {
  expect(output.length).toBeGreaterThan(20);
  expect(messages.length).toBeGreaterThan(5);
  const basic = Buffer.from(`u:${SECRET}`).toString("base64");
  for (const text of [...output, ...messages]) {
    expect(text).not.toContain(SECRET);
    expect(text).not.toContain(basic);
  }
});
