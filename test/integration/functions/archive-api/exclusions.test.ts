import { gunzipSync, gzipSync } from "node:zlib";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { createApiKey } from "../../../../shared/access/api-keys.ts";
import { computeChanges } from "../../../../shared/archive/changes/compute-changes.ts";
import { indexSnapshots } from "../../../../shared/archive/search/index-snapshots.ts";
import { buildWacz } from "../../../../shared/archive/wacz/build-wacz.ts";
import { callApi, callStreamApi, type TestRequest } from "../../../services/api.ts";
import { type ArchiveSetup, archiveSetup } from "../../archive/archive-setup.ts";
import { type ReplayServer, startReplayServer } from "../../archive/replay/replay-server.ts";
import { http, record } from "../../archive/warc-records.ts";
import { zipEntries } from "../../archive/zip-file.ts";

type Handlers = Awaited<ReturnType<typeof handlers>>;
let setup: ArchiveSetup;
let apis: Handlers;
let replay: ReplayServer;
let key: string;
let jobId: string;

const DAY_MS = 86_400_000;
const daysAgo = (days: number) => new Date(Date.now() - days * DAY_MS).toISOString().replace(/\.\d+/, "");
const page = (path: string, days: number, text: string) =>
  record(http(`<html lang=en><title>${text}</title><main><p>${text}, told by the lighthouse.</p></main>`), {
    url: `https://site.test${path}`,
    date: daysAgo(days),
  });

const handlers = async () => ({
  admin: (await import("../../../../functions/archive-api/handler.ts")).api,
  snapshots: (await import("../../../../functions/snapshots-api/handler.ts")).api,
  cdx: (await import("../../../../functions/cdx-api/handler.ts")).api,
  changes: (await import("../../../../functions/changes-api/handler.ts")).api,
  search: (await import("../../../../functions/archive-search-api/handler.ts")).api,
  lists: (await import("../../../../functions/archive-exports-api/handler.ts")).api,
  editions: (await import("../../../../functions/editions-api/handler.ts")).api,
});

beforeAll(async () => {
  setup = await archiveSetup({ ARCHIVE__REPLAY_URL: "" });
  apis = await handlers();
  replay = await startReplayServer();
  const scopes = ["admin" as const];
  ({ key } = await createApiKey(setup.sql, { name: "operator", scopes, rateLimitRpm: 100_000, expiresAt: null }));
  const { view } = await setup.importFile(
    Buffer.concat(
      [
        page("/kept", 400, "Kept first"),
        page("/kept", 3, "Kept later"),
        page("/secret/one", 400, "Secret first"),
        page("/secret/one", 3, "Secret later"),
        page("/SECRET/two?b=1&a=2", 3, "Secret query"),
        record(http("", "Location: /kept\r\n", "301 Moved"), {
          url: "https://site.test/secret/moved",
          date: daysAgo(3),
        }),
        record(http("<p>elsewhere", "Content-Type: text/html\r\n"), {
          url: "https://sub.site.test/",
          date: daysAgo(3),
        }),
      ].map((each) => gzipSync(each)),
    ),
  );
  jobId = view.jobId ?? "";
  await computeChanges(setup.dependencies, () => true);
  await indexSnapshots(setup.dependencies, () => true);
});
afterEach(async () => {
  await setup.sql`delete from archive_exclusions`;
});
afterAll(async () => {
  replay?.destroy();
  replay?.close();
  await setup.close();
});

const admin = (request: TestRequest) => callApi(apis.admin, { key, ...request });
const exclude = async (json: object) => {
  const answer = await admin({ method: "POST", path: "/api/admin/exclusions", json });
  expect(answer.status).toBe(201);
  return answer.body;
};
const asListed = ({ matchedCaptures: _, matchedMore: __, ...exclusion }: Record<string, unknown>) => exclusion;
const idOf = async (path: string, newest = true) => {
  const rows = await setup.sql<{ id: number }[]>`
    select id from captures where final_url = ${`https://site.test${path}`} order by fetched_at`;
  return rows.at(newest ? -1 : 0)?.id ?? 0;
};

/** What each way of reading shows, as words of the pages. */
async function seen(): Promise<Record<string, unknown[]>> {
  const cdx = await callStreamApi(apis.cdx, {
    path: "/api/cdx?url=*.site.test&fl=original,timestamp",
    key,
  });
  const { body: search } = await callApi(apis.search, { path: "/api/search?q=lighthouse&pageSize=50" });
  const { body: changes } = await callApi(apis.changes, { path: "/api/changes?pageSize=50" });
  const { body: feed } = await callApi(apis.changes, { path: "/api/changes/rss" });
  const list = await callStreamApi(apis.lists, { path: "/api/exports/snapshots" });
  const lines = gunzipSync(list.bytes).toString().trim().split("\n");
  const parts: Uint8Array[] = [];
  const options = { jobId, created: new Date(0), proceed: () => {} };
  const written = await buildWacz(
    setup.dependencies,
    options,
    async (bytes) => void parts.push(Buffer.from(bytes)),
  ).catch((error: { code?: string }) => error.code);
  const wacz = typeof written === "string" ? new Map<string, Buffer>() : zipEntries(Buffer.concat(parts));
  const inside = [...wacz].map(([name, bytes]) => (name.endsWith(".gz") ? warcText(bytes) : bytes.toString())).join("");
  return {
    cdx: cdx.answer.body.trim().split("\n").filter(Boolean),
    search: search.results.map(({ title }: { title: string }) => title).sort(),
    changes: changes.results.map(({ toSnapshotId }: { toSnapshotId: number }) => toSnapshotId).map(String),
    feed: feed.match(/<item>/g) ?? [],
    list: lines.filter(Boolean).map((line) => JSON.parse(line).title),
    wacz: [...new Set(inside.match(/(?:Kept|Secret) (?:first|later|query)/g))].sort(),
  };
}

const warcText = (bytes: Buffer): string => gunzipSync(bytes).toString();

const statusOf = async (api: keyof Handlers, path: string) => {
  const { status, body } = await callApi(apis[api], { path });
  return [status, body?.code ?? ""];
};
const replayed = async (path: string) => (await fetch(`${replay.url}${path}`, { redirect: "manual" })).status;

describe("an exclusion", () => {
  it("keeps a prefix from all readers at once, says so where it is asked for, and is revoked", async () => {
    const before = await seen();
    expect(before["search"]).toHaveLength(5);
    expect(before["wacz"]).toHaveLength(5);
    const made = await exclude({ url: "https://site.test/secret/*", reason: "asked by its owner" });
    expect(made).toMatchObject({ url: "https://site.test/secret/*", matchType: "prefix", embargoDays: null });
    const while_ = await seen();
    expect(JSON.stringify(while_)).not.toMatch(/secret/i);
    expect(while_["search"]).toEqual(["Kept first", "Kept later"]);
    expect(while_["wacz"]).toEqual(["Kept first", "Kept later"]);
    expect(while_["cdx"]).toHaveLength(3);

    const id = await idOf("/secret/one");
    const paths = [`/api/snapshot/${id}`, `/api/snapshots/raw/${id}`, `/api/snapshots/${id}/timeline`];
    for (const path of [...paths, `/api/snapshots/${id}/latest`]) {
      expect([path, ...(await statusOf("snapshots", path))]).toEqual([path, 451, "EXCLUDED"]);
    }
    const url = "https://site.test/secret/one";
    const resolve = `/api/replay/resolve?url=${encodeURIComponent(url)}`;
    expect(await statusOf("snapshots", resolve)).toEqual([451, "EXCLUDED"]);
    expect(await statusOf("changes", `/api/changes/compare?toSnapshotId=${id}`)).toEqual([451, "EXCLUDED"]);
    for (const gate of ["/timegate/", "/timemap/link/", "/timemap/json/"]) {
      expect(await statusOf("cdx", `${gate}${url}`)).toEqual([451, "EXCLUDED"]);
      // what it leads to is shown, and not by way of it
      expect(await statusOf("cdx", `${gate}https://site.test/secret/moved`)).toEqual([451, "EXCLUDED"]);
    }
    for (const path of [`/2026/${url}`, `/${url}`, `/timemap/link/${url}`, "/2026/http://SITE.test/Secret/nothing"]) {
      expect([path, await replayed(path)]).toEqual([path, 451]);
    }
    expect(await replayed(`/${"https://site.test/kept"}`)).toBe(302);

    const listed = await admin({ path: "/api/admin/exclusions" });
    expect(listed.body.items).toEqual([asListed(made)]);
    expect((await admin({ method: "DELETE", path: `/api/admin/exclusions/${made.id}` })).status).toBe(204);
    expect(await seen()).toEqual(before);
    expect((await statusOf("snapshots", paths[0] as string))[0]).toBe(200);
    expect((await admin({ method: "DELETE", path: `/api/admin/exclusions/${made.id}` })).status).toBe(404);
  });

  it.each([
    [{ url: "https://site.test/secret/one" }, ["/secret/one"]],
    [{ url: "site.test/secret/two?a=2&b=1" }, ["/SECRET/two?b=1&a=2"]],
    [{ url: "site.test", matchType: "host" }, ["/kept", "/secret/one", "/SECRET/two?b=1&a=2"]],
    [{ url: "*.site.test" }, ["/kept", "/secret/one", "/SECRET/two?b=1&a=2"]],
    [{ url: "*" }, ["/kept", "/secret/one", "/SECRET/two?b=1&a=2"]],
    [{ url: "other.test", matchType: "domain" }, []],
  ])("of %o withholds what it names", async (what, withheld) => {
    await exclude(what);
    for (const path of ["/kept", "/secret/one", "/SECRET/two?b=1&a=2"]) {
      const [status] = await statusOf("snapshots", `/api/snapshot/${await idOf(path)}`);
      expect([path, status]).toEqual([path, withheld.includes(path) ? 451 : 200]);
    }
    expect(await replayed("/2026/https://sub.site.test/")).toBe(["*", "*.site.test"].includes(what.url) ? 451 : 200);
  });

  it("is refused where it names nothing", async () => {
    for (const json of [{}, { url: "" }, { url: "a.test", embargoDays: 0 }, { url: `a.test/${"x".repeat(3_000)}*` }]) {
      expect((await admin({ method: "POST", path: "/api/admin/exclusions", json })).status).toBe(400);
    }
  });
});

describe("an embargo", () => {
  it("withholds what is younger, and shows the rest", async () => {
    await exclude({ url: "site.test", matchType: "host", embargoDays: 30 });
    const shown = await seen();
    expect(shown["search"]).toEqual(["Kept first", "Secret first"]);
    expect(shown["list"]).toEqual(["Kept first", "Secret first", null]);
    expect(shown["wacz"]).toEqual(["Kept first", "Secret first"]);
    expect(await statusOf("snapshots", `/api/snapshot/${await idOf("/kept")}`)).toEqual([403, "EMBARGOED"]);
    const old = await idOf("/kept", false);
    const { body } = await callApi(apis.snapshots, { path: `/api/snapshots/${old}/timeline` });
    expect(body.snapshots.map(({ snapshotId }: { snapshotId: number }) => snapshotId)).toEqual([old]);
    expect((await callApi(apis.snapshots, { path: `/api/snapshots/${old}/latest` })).body.snapshotId).toBe(old);
    const gate = await callApi(apis.cdx, { path: "/timegate/https://site.test/kept" });
    expect([gate.status, gate.headers["location"]]).toEqual([302, `http://api.test/api/snapshots/raw/${old}`]);
    expect(await statusOf("cdx", "/timegate/https://site.test/SECRET/two?b=1&a=2")).toEqual([403, "EMBARGOED"]);
    expect(await replayed("/2026/https://site.test/SECRET/two?b=1&a=2")).toBe(403);
    expect(await replayed("/2026/https://site.test/nowhere")).toBe(404);
    expect(await replayed("/https://site.test/kept")).toBe(302);
  });
});

it("says how many captures an exclusion withholds as of now", async () => {
  expect(await exclude({ url: "https://site.test/secret/*" })).toMatchObject({
    matchedCaptures: 4,
    matchedMore: false,
  });
  expect(await exclude({ url: "*.site.test" })).toMatchObject({ matchedCaptures: 7 });
  expect(await exclude({ url: "https://site.test/kept", embargoDays: 30 })).toMatchObject({ matchedCaptures: 1 });
  expect(await exclude({ url: "https://site.test/none" })).toMatchObject({ matchedCaptures: 0 });
});

describe("what is withheld", () => {
  /** Counts of the whole archive are given again for a minute. */
  const now = Date.now.bind(Date);
  const later = (minutes: number) => vi.spyOn(Date, "now").mockImplementation(() => now() + minutes * 61_000);
  afterEach(() => {
    vi.restoreAllMocks();
  });

  /** Of every route that anybody may ask without knowing of a capture that is withheld. */
  const asked = (kept: number): [keyof Handlers, string][] => [
    ["snapshots", "/api/health"],
    ["snapshots", "/api/stats"],
    ["snapshots", `/api/snapshot/${kept}`],
    ["snapshots", `/api/snapshots/raw/${kept}`],
    ["snapshots", `/api/snapshots/${kept}/timeline`],
    ["snapshots", `/api/snapshots/${kept}/latest`],
    ["snapshots", "/api/replay/resolve?url=https://site.test/kept"],
    ["editions", "/api/sources"],
    ["editions", "/api/sources/site.test"],
    ["editions", "/api/sources/site.test/editions"],
    // pictures of captures that are withheld: editions-api/previews
    ["editions", "/api/sources/site.test/preview"],
    ["changes", "/api/changes?latest=false&includeUnchanged=true"],
    ["changes", "/api/changes/rss"],
    ["changes", `/api/changes/compare?toSnapshotId=${kept}`],
    ["search", "/api/search?q=lighthouse&includeDuplicates=true&includeNon2xx=true"],
    ["search", "/api/search?q=lighthouse&view=pages"],
    ["search", "/api/search?q=secrat"],
    ["lists", "/api/exports"],
    ["lists", "/api/exports/snapshots?compressed=false"],
    ["lists", "/api/exports/changes?compressed=false"],
    ["cdx", "/api/cdx?url=*.site.test&output=json"],
    ["cdx", "/api/cdx?url=site.test/*&limit=2&showResumeKey=true"],
    ["cdx", "/timegate/https://site.test/kept"],
    ["cdx", "/timemap/link/https://site.test/kept"],
    ["cdx", "/timemap/json/https://site.test/kept"],
  ];
  /** Asks the web, of what the captures before it have been asked for. */
  const ASKS_THE_WEB = "/api/snapshots/{id}/compare-live";
  /** How much the archive is used, and what its operator measures. */
  const OF_NO_CAPTURE = ["/api/usage", "/metrics"];

  it("is asked for at every route that readers have", async () => {
    const paths = asked(1).map(([api, path]) => [api, path.split("?")[0]]);
    for (const [name, { routes }] of Object.entries(apis)) {
      for (const { method, path } of routes) {
        if (method !== "GET" || path.startsWith("/api/admin/") || path === ASKS_THE_WEB) continue;
        if (OF_NO_CAPTURE.includes(path)) continue;
        const pattern = new RegExp(`^${path.replace(/\{\w+\+\}/, ".+").replaceAll(/\{\w+\}/g, "[^/]+")}$`);
        expect([path, paths.some(([api, each]) => api === name && pattern.test(each ?? ""))]).toEqual([path, true]);
      }
    }
    await exclude({ url: "https://site.test/secret/*" });
    const id = await idOf("/secret/one");
    expect(await statusOf("changes", ASKS_THE_WEB.replace("{id}", String(id)))).toEqual([451, "EXCLUDED"]);
  });

  it("leaves no trace: every answer is that of an archive which does not hold it, counts included", async () => {
    const kept = await idOf("/kept", false);
    const answers = async () => {
      const all: Record<string, unknown> = {};
      for (const [api, path] of asked(kept)) {
        const { status, headers, body } = await callApi(apis[api], { path, key });
        all[path] = [status, headers["link"], headers["location"], body];
      }
      return all;
    };
    const whole = await answers();
    later(1);
    await exclude({ url: "https://site.test/secret/*" });
    await exclude({ url: "https://site.test/kept", embargoDays: 30 });
    const withheld = await answers();
    await setup.sql`delete from archive_exclusions`;
    await setup.sql`
      delete from captures where final_url ilike '%/secret/%'
        or final_url like '%/kept' and fetched_at > now() - interval '30 days'`;
    later(2);
    expect(withheld).toEqual(await answers());
    const same = Object.keys(whole).filter((path) => JSON.stringify(whole[path]) === JSON.stringify(withheld[path]));
    const untold = [
      "/api/exports",
      "/api/sources/site.test/editions",
      "/api/sources/site.test/preview",
      `/api/snapshot/${kept}`,
      `/api/snapshots/raw/${kept}`,
    ];
    expect(same.toSorted()).toEqual([...untold, `/api/changes/compare?toSnapshotId=${kept}`].toSorted());
  });
});

it.each([
  [{ url: "https://site.test/*/private" }, "where none is read"],
  [{ url: "https://si*te.test/" }, "where none is read"],
  [{ url: "sub.*.site.test" }, "where none is read"],
  [{ url: "**" }, "where none is read"],
  [{ url: "*.site.test/private/*" }, "a domain with a path"],
  [{ url: "/private/*" }, "no host"],
  [{ url: "https:///private" }, "no host"],
  [{ url: "ftp://site.test/" }, "no http(s) URL"],
  [{ url: "https://site.test/*", matchType: "prefix" }, "stands for nothing"],
])("refuses a pattern that would withhold nothing, or something else: %j", async (json, why) => {
  const { status, body } = await admin({ method: "POST", path: "/api/admin/exclusions", json });
  expect([status, JSON.stringify(body)]).toEqual([400, expect.stringContaining(why)]);
});
