import { gunzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { StreamApi } from "../../../functions/adapters/api/stream-api.ts";
import { computeChanges } from "../../../shared/archive/changes/compute-changes.ts";
import { csvCell } from "../../../shared/archive/exports/lines.ts";
import { CHANGE_COLUMNS, SNAPSHOT_COLUMNS } from "../../../shared/archive/exports/rows.ts";
import { callApi, callStreamApi } from "../../services/api.ts";
import { type ArchiveSetup, archiveSetup } from "./archive-setup.ts";
import { http, record } from "./warc-records.ts";

let setup: ArchiveSetup;
let api: StreamApi;

const page = (title: string, day: number, url = "http://list.test/", status = "200 OK") =>
  record(
    http(
      `<html lang=en><title>${title}</title><h1>${title}</h1><p>It says number ${day}.</p>`,
      "Content-Type: text/html\r\n",
      status,
    ),
    { url, date: `2026-01-0${day}T12:00:00Z` },
  );

beforeAll(async () => {
  setup = await archiveSetup();
  ({ api } = await import("../../../functions/archive-exports-api/handler.ts"));
  await setup.importRecords([
    page("=HYPERLINK(&quot;http://evil.test&quot;)", 1),
    page('Say "so", twice', 2),
    page("Gone", 3, "http://list.test/", "404 Not Found"),
    page("Other", 4, "http://other.test/a?b=1"),
  ]);
  await computeChanges(setup.dependencies, () => true);
});
afterAll(() => setup.close());

const take = async (path: string) => {
  const { answer, bytes } = await callStreamApi(api, { path });
  return { ...answer, bytes };
};
const rowsOf = async (path: string) => {
  const { status, bytes } = await take(path);
  expect(status).toBe(200);
  const text = gunzipSync(bytes).toString();
  return text
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line));
};

const TYPE_OF: Record<string, string> = {
  integer: "number",
  number: "number",
  string: "string",
  timestamp: "string",
  boolean: "boolean",
};

describe("exports of the archive", () => {
  it("say what there is", async () => {
    const { body } = await callApi(api, { path: "/api/exports" });
    expect(body).toMatchObject({
      enabled: true,
      formats: ["jsonl", "ndjson", "csv"],
      defaultLimit: 1000,
      maxLimit: 10000,
      snapshots: { path: "/api/exports/snapshots" },
      changes: { path: "/api/exports/changes" },
    });
    // a dictionary of what is listed: each column, and what it may be
    for (const [list, { columns }] of [["snapshots", body.snapshots] as const, ["changes", body.changes] as const]) {
      const rows = await rowsOf(`/api/exports/${list}`);
      expect(rows.length).toBeGreaterThan(0);
      for (const row of rows) {
        expect(columns.map(({ name }: { name: string }) => name)).toEqual(Object.keys(row));
        for (const { name, type, nullable, about } of columns) {
          expect(about).not.toBe("");
          if (row[name] === null) expect([list, name, nullable]).toEqual([list, name, true]);
          else expect([list, name, TYPE_OF[type]]).toEqual([list, name, typeof row[name]]);
        }
      }
    }
  });

  it("are gzip files of JSON lines where nothing else is asked for, with all columns in their order", async () => {
    const { headers } = await take("/api/exports/snapshots");
    expect([headers["content-type"], headers["content-disposition"]]).toEqual([
      "application/gzip",
      'attachment; filename="strandline-snapshots.jsonl.gz"',
    ]);
    const rows = await rowsOf("/api/exports/snapshots");
    expect(rows.map((row) => row.status_code)).toEqual([200, 200, 404, 200]);
    expect(Object.keys(rows[0])).toEqual([...SNAPSHOT_COLUMNS]);
    expect(rows[3]).toEqual({
      snapshot_id: expect.any(Number),
      source_code: "other.test",
      source_name: "other.test",
      captured_url: "http://other.test/a?b=1",
      normalized_url_group: "http://other.test/a",
      capture_timestamp_utc: "2026-01-04T12:00:00.000Z",
      language: "en",
      status_code: 200,
      mime_type: "text/html",
      title: "Other",
      job_id: expect.any(Number),
      job_name: expect.stringMatching(/^import-\d{8}$/),
      snapshot_url: expect.stringMatching(/^http:\/\/[^/]+\/api\/snapshot\/\d+$/),
    });
    const changes = await rowsOf("/api/exports/changes");
    expect(Object.keys(changes[0])).toEqual([...CHANGE_COLUMNS]);
    expect(changes.map((row) => row.change_id)).toEqual(changes.map((row) => row.change_id).toSorted((a, b) => a - b));
    expect(changes.map((row) => row.change_type).sort()).toEqual(["error", "new_page", "new_page", "updated"]);
    const updated = changes.find((row) => row.change_type === "updated");
    expect(updated).toMatchObject({ diff_version: "v1", high_noise: false, added_lines: 2, removed_lines: 2 });
    expect(updated.compare_url).toMatch(/\/api\/changes\/compare\?toSnapshotId=\d+&fromSnapshotId=\d+$/);
  });

  it("go on behind an id, and are of a source and of days that belong to it", async () => {
    for (const [list, id] of [
      ["snapshots", "snapshot_id"],
      ["changes", "change_id"],
    ] as const) {
      const all = await rowsOf(`/api/exports/${list}`);
      const found = [];
      for (let after = 0; ; ) {
        const some = await rowsOf(`/api/exports/${list}?limit=3&afterId=${after}`);
        found.push(...some);
        if (some.length < 3) break;
        after = some.at(-1)[id];
      }
      expect(found).toEqual(all);
      expect(await rowsOf(`/api/exports/${list}?source=Other.Test`)).toHaveLength(1);
      expect(await rowsOf(`/api/exports/${list}?from=0001-01-01&to=9999-12-31`)).toEqual(all);
      expect(await rowsOf(`/api/exports/${list}?from=2026-01-02&to=2026-01-03`)).toHaveLength(2);
    }
  });

  it("are CSV whose cells are no formulas", async () => {
    const { headers, body } = await take("/api/exports/snapshots?format=csv&compressed=false");
    expect(headers["content-type"]).toBe("text/csv; charset=utf-8");
    const [first, second, third] = String(body).split("\r\n");
    expect(first).toBe(SNAPSHOT_COLUMNS.join(","));
    expect(second).toContain(`,"'=HYPERLINK(""http://evil.test"")",`);
    expect(third).toContain(',"Say ""so"", twice",');
  });

  it.each([
    ["=1+1", "'=1+1"],
    ["+1", "'+1"],
    ["-1", "'-1"],
    ["@SUM(A1)", "'@SUM(A1)"],
    ["\t=1", "'\t=1"],
    ["  =1", `'  =1`],
    ["\r=1", `"'\r=1"`],
    ["＝1", "'＝1"],
    ["plain", "plain"],
    ["a,b", '"a,b"'],
    ["line\nbreak", '"line\nbreak"'],
    ["a=b", "a=b"],
    [-5, "-5"],
    [true, "true"],
    [null, ""],
  ])("have %j as %j", (cell, shown) => {
    expect(csvCell(cell)).toBe(shown);
  });

  it("answer who asks for the head, and refuse what is wrong", async () => {
    for (const path of ["/api/exports/snapshots", "/api/exports/changes?format=csv", "/api/exports"]) {
      const { status, body } = await callApi(api, { method: "HEAD", path });
      expect([path, status, body]).toEqual([path, 200, undefined]);
    }
    for (const bad of [
      "format=xml",
      "limit=0",
      "limit=10001",
      "afterId=-1",
      "afterId=1e99",
      "from=yesterday",
      "from=0000-01-01",
      "to=0000-01-01",
      "compressed=perhaps",
    ]) {
      const { status, body } = await callApi(api, { path: `/api/exports/snapshots?${bad}` });
      expect([bad, status, body.code]).toEqual([bad, 422, "VALIDATION_ERROR"]);
    }
  });
});
