/** Whoever reads the archive without a key: how often, how long a URL, and what a deployment has switched off. */
import { afterAll, beforeAll, expect, it } from "vitest";
import type { StreamApi } from "../../../functions/adapters/api/stream-api.ts";
import { callApi } from "../../services/api.ts";
import { type ApiSetup, setUpApi } from "./api-setup.ts";

const PER_MINUTE = 3;

let setup: ApiSetup;
let apis: Record<"changes" | "exports" | "search" | "editions" | "snapshots", StreamApi>;
beforeAll(async () => {
  setup = await setUpApi({
    ARCHIVE__REQUESTS_PER_MINUTE: String(PER_MINUTE),
    ARCHIVE__OFF: "changes, compare-live, exports, reports, search",
  });
  const load = async (name: string) =>
    ((await import(`../../../functions/${name}/handler.ts`)) as { api: StreamApi }).api;
  apis = {
    changes: await load("changes-api"),
    exports: await load("archive-exports-api"),
    search: await load("archive-search-api"),
    editions: await load("editions-api"),
    snapshots: await load("snapshots-api"),
  };
});
afterAll(() => setup.close());

it("are let through so often a minute, each address by itself, and administrators by their keys", async () => {
  const ask = (sourceIp: string) => callApi(apis.snapshots, { path: "/api/stats", sourceIp });
  const answers = await Promise.all(Array.from({ length: 4 * PER_MINUTE }, () => ask("192.0.2.1")));
  const refused = answers.find(({ status }) => status === 429);
  // a minute may turn meanwhile
  expect(answers.filter(({ status }) => status === 200).length).toBeLessThanOrEqual(2 * PER_MINUTE);
  expect(refused?.body).toMatchObject({ code: "RATE_LIMITED", details: { limit: PER_MINUTE } });
  expect(Number(refused?.headers["retry-after"])).toBeGreaterThan(0);
  expect((await ask("192.0.2.2")).status).toBe(200);
  const key = setup.keys.admin;
  for (let i = 0; i <= 2 * PER_MINUTE; i++) {
    const { status } = await callApi(apis.editions, { path: "/api/admin/reports", key, sourceIp: "192.0.2.1" });
    expect(status).toBe(200);
  }
});

it("are told that a URL is too long, or a body", async () => {
  const path = `/api/search?q=${"x".repeat(9_000)}`;
  expect(await callApi(apis.search, { path, sourceIp: "192.0.2.3" })).toMatchObject({
    status: 414,
    body: { code: "URI_TOO_LONG" },
  });
  const report = { method: "POST", path: "/api/reports", json: "x".repeat(7_000_000), sourceIp: "192.0.2.3" };
  expect(await callApi(apis.editions, report)).toMatchObject({ status: 413, body: { code: "PAYLOAD_TOO_LARGE" } });
});

it.each([
  ["search", "search", "/api/search?q=x"],
  ["changes", "changes", "/api/changes/rss"],
  ["changes", "changes", "/api/changes/compare?toSnapshotId=1"],
  ["changes", "compare-live", "/api/snapshots/1/compare-live"],
  ["exports", "exports", "/api/exports/snapshots"],
  ["exports", "exports", "/api/exports/changes"],
] as const)("of %s are told that %s is switched off at %s", async (api, feature, path) => {
  const answer = await callApi(apis[api], { path, sourceIp: `feature of ${path}` });
  expect(answer).toMatchObject({ status: 404, body: { code: "FEATURE_OFF", details: { feature } } });
});

it("learn what is switched off where the interface has a field for it, and send no reports", async () => {
  const off = async (api: StreamApi, path: string) => (await callApi(api, { path, sourceIp: path })).body;
  expect(await off(apis.changes, "/api/changes")).toMatchObject({ enabled: false, total: 0, results: [] });
  expect(await off(apis.exports, "/api/exports")).toMatchObject({ enabled: false });
  const json = { category: "general_feedback", description: "This says enough to be a report." };
  expect(await callApi(apis.editions, { method: "POST", path: "/api/reports", json })).toMatchObject({
    status: 404,
    body: { code: "FEATURE_OFF" },
  });
});
