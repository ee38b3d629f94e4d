import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { api } from "../../../../functions/cdx-api/handler.ts";
import { callApi } from "../../../services/api.ts";
import { type ApiSetup, setUpApi } from "../api-setup.ts";
import { insertTestCaptures, type TestCapture } from "./captured.ts";

let setup: ApiSetup;
beforeAll(async () => {
  setup = await setUpApi();
});
afterAll(() => setup.close());
beforeEach(async () => {
  await setup.database.sql`delete from jobs`;
});

const query = async (parameters: Record<string, string> | [string, string][]) =>
  await callApi(api, { path: `/api/cdx?${new URLSearchParams(parameters)}`, key: setup.keys.read });
/** Lines of text, each as its values. */
const lines = async (parameters: Record<string, string> | [string, string][]): Promise<string[][]> => {
  const answer = await query(parameters);
  expect([answer.status, answer.body]).toEqual([200, answer.status === 200 ? answer.body : ""]);
  return (answer.body ?? "")
    .split("\n")
    .filter((line: string) => line !== "")
    .map((line: string) => line.split(" "));
};
const stored = (captures: readonly TestCapture[]) => insertTestCaptures(setup.database.sql, captures);
const at = (url: string, time: string, more: Partial<TestCapture> = {}): TestCapture => ({ url, time, ...more });

const SITE = [
  at("https://example.org/", "2024-01-01T00:00:00Z"),
  at("http://www.example.org/", "2025-01-01T00:00:00.500Z", { digest: "sha256:11" }),
  at("https://example.org/a", "2024-02-01T00:00:00Z", { status: 404 }),
  at("https://example.org/a/b.png", "2024-02-02T00:00:00Z", { mimeType: "image/png" }),
  at("https://example.org/about", "2024-02-03T00:00:00Z", { mimeType: null }),
  at("https://example.org:8080/", "2024-02-04T00:00:00Z"),
  at("https://sub.example.org/x", "2024-02-05T00:00:00Z"),
  at("https://example.organic/", "2024-02-06T00:00:00Z"),
  at("https://ex.example.com/", "2024-02-07T00:00:00Z"),
];
const originals = (found: string[][]) => found.map(([original]) => original);

describe("GET /api/cdx", () => {
  it("gives the eleven fields of the captures of a URL, in whatever spelling, oldest first", async () => {
    await stored(SITE.slice(0, 2));
    const found = await lines({ url: "EXAMPLE.org" });
    expect(found.map((each) => each.toSpliced(9, 1))).toEqual([
      [
        "org,example)/",
        "20240101000000",
        "https://example.org/",
        "text/html",
        "200",
        "sha256:00",
        "-",
        "-",
        "90",
        "warcs/a.warc.gz",
      ],
      [
        "org,example)/",
        "20250101000000",
        "http://www.example.org/",
        "text/html",
        "200",
        "sha256:11",
        "-",
        "-",
        "90",
        "warcs/a.warc.gz",
      ],
    ]);
    expect((await query({ url: "https://nowhere.example/" })).body).toBeUndefined();
  });

  it.each([
    [{ url: "example.org" }, [0, 1]],
    [{ url: "example.org/a", matchType: "exact" }, [2]],
    [{ url: "example.org/a*" }, [2, 3, 4]],
    [{ url: "example.org/a", matchType: "prefix" }, [2, 3, 4]],
    [{ url: "example.org/a/", matchType: "prefix" }, [3]],
    [{ url: "example.org/*" }, [0, 1, 2, 3, 4]],
    [{ url: "https://example.org/whatever", matchType: "host" }, [0, 1, 2, 3, 4]],
    [{ url: "https://example.org:8080/", matchType: "host" }, [5]],
    [{ url: "example.org", matchType: "domain" }, [0, 1, 2, 3, 4, 6, 5]],
    [{ url: "*.example.org" }, [0, 1, 2, 3, 4, 6, 5]],
    [{ url: "http://*.example.org/*" }, [0, 1, 2, 3, 4, 6, 5]],
    [{ url: "*.example.org", sort: "reverse" }, [5, 6, 4, 3, 2, 1, 0]],
    [{ url: "*.example.org", limit: "2" }, [0, 1]],
    [{ url: "*.example.org", limit: "-2" }, [6, 5]],
    [{ url: "*.example.org", limit: "-2", collapse: "urlkey" }, [6, 5]],
    [{ url: "*.example.org", limit: "-2", sort: "reverse" }, [1, 0]],
    [{ url: "*.example.org", limit: "0" }, []],
    [{ url: "*.example.org", from: "20240203", to: "202402" }, [4, 6, 5]],
    [{ url: "*.example.org", from: "2025" }, [1]],
    [{ url: "*.example.org", to: "2024" }, [0, 2, 3, 4, 6, 5]],
    [{ url: "*.example.org", to: "20240201000000" }, [0, 2]],
    [{ url: "*.example.org", filter: "statuscode:404" }, [2]],
    [{ url: "*.example.org", filter: "!=status:200" }, [2]],
    [{ url: "*.example.org", filter: "mimetype:image/.*" }, [3]],
    [{ url: "*.example.org", filter: "~original:https?://sub\\." }, [6]],
    [{ url: "*.example.org", filter: "=mime:unk" }, [4]],
    [{ url: "*.example.org", filter: "~original:sub" }, []],
    [{ url: "*.example.org", filter: "mimetype:video" }, []],
    [{ url: "*.example.org", collapse: "timestamp:4" }, [0, 1, 2]],
    [{ url: "*.example.org", collapse: "digest" }, [0, 1, 2]],
  ])("%j is answered with %j", async (parameters, expected) => {
    await stored(SITE);
    const found = await lines({ ...parameters, fl: "original" });
    expect(originals(found)).toEqual(expected.map((index) => SITE[index]?.url));
  });

  it("takes several filters and several collapses", async () => {
    await stored(SITE);
    const [filters, collapses] = [
      await lines([
        ["url", "*.example.org"],
        ["fl", "original"],
        ["filter", "!statuscode:404"],
        ["filter", "mimetype:html"],
      ]),
      await lines([
        ["url", "example.org"],
        ["fl", "original"],
        ["collapse", "urlkey"],
        ["collapse", "digest"],
      ]),
    ];
    expect(originals(filters)).toEqual([0, 1, 6, 5].map((index) => SITE[index]?.url));
    expect(originals(collapses)).toEqual([0, 1].map((index) => SITE[index]?.url));
  });

  it("takes the first and the last time that digits can name", async () => {
    await stored(SITE.slice(0, 2));
    for (const times of [
      { from: "0" },
      { from: "0001", to: "9999" },
      { to: "9" },
      { from: "000", to: "99991231235959" },
    ]) {
      expect(await lines({ url: "example.org", ...times } as Record<string, string>)).toHaveLength(2);
    }
    expect(await lines({ url: "example.org", to: "0" })).toEqual([]);
    expect(await lines({ url: "example.org", closest: "0" })).toHaveLength(2);
    expect(await lines({ url: "example.org", closest: "9999" })).toHaveLength(2);
  });

  it("sorts by distance from a time", async () => {
    await stored(["2020", "2022", "2024", "2026"].map((year) => at("https://example.org/", `${year}-01-01T00:00:00Z`)));
    const closest = async (parameters: object) =>
      (await lines({ url: "example.org", fl: "timestamp", ...parameters })).map(([time]) => time?.slice(0, 4));
    expect(await closest({ closest: "20240201" })).toEqual(["2024", "2026", "2022", "2020"]);
    expect(await closest({ closest: "2019", sort: "closest", limit: "2" })).toEqual(["2020", "2022"]);
    expect(await closest({ closest: "2030", from: "2021", to: "2025" })).toEqual(["2024", "2022"]);
  });

  it("has revisits as such, and on request with what they repeat", async () => {
    const [original] = await stored([at("https://example.org/", "2024-01-01T00:00:00Z")]);
    await stored([at("https://example.org/", "2024-01-02T00:00:00Z", { revisitOf: original as number })]);
    const plain = await lines({ url: "example.org", fl: "mimetype" });
    expect(plain).toEqual([["text/html"], ["warc/revisit"]]);
    const [first, second] = await lines({ url: "example.org", resolveRevisits: "true" });
    expect(first?.slice(11)).toEqual(["-", "-", "-"]);
    expect([second?.[3], ...(second ?? []).slice(11)]).toEqual(["text/html", "90", first?.[9], "warcs/a.warc.gz"]);
  });

  it("writes CDXJ, rows and records", async () => {
    await stored(SITE.slice(2, 3));
    const of = async (output: string) => (await query({ url: "example.org/a", output, fl: "urlkey,statuscode" })).body;
    expect(await of("json")).toEqual([
      ["urlkey", "statuscode"],
      ["org,example)/a", "404"],
    ]);
    expect(await of("ndjson")).toBe('{"urlkey":"org,example)/a","statuscode":"404"}\n');
    expect(await of("text")).toBe("org,example)/a 404\n");
    const cdxj = (await query({ url: "example.org/a", output: "cdxj" })).body as string;
    expect(cdxj).toMatch(/^org,example\)\/a 20240201000000 \{"url":"https:\/\/example.org\/a",/);
    expect(JSON.parse(cdxj.slice(cdxj.indexOf("{")))).toMatchObject({ mime: "text/html", status: "404", length: "90" });
    expect((await query({ url: "example.org/nothing", output: "json", fl: "urlkey" })).body).toEqual([["urlkey"]]);
  });

  it("goes on where a list was left, in either direction, and within what is collapsed", async () => {
    await stored(Array.from({ length: 9 }, (_, day) => at("https://example.org/", `2024-01-0${day + 1}T00:00:00Z`)));
    await stored(SITE.slice(2));
    for (const more of [{}, { sort: "reverse" }, { collapse: "urlkey" }, { filter: "!statuscode:404" }]) {
      const all = await lines({ url: "*.example.org", ...more });
      const pieces: string[][] = [];
      for (let resumeKey: string | undefined, turn = 0; turn < 20; turn++) {
        const page = await lines({
          url: "*.example.org",
          limit: "2",
          showResumeKey: "true",
          ...more,
          ...(resumeKey && { resumeKey }),
        });
        const last = page.at(-1) ?? [];
        resumeKey = last.length === 1 ? page.pop()?.[0] : undefined;
        pieces.push(...page);
        if (resumeKey === undefined) break;
      }
      expect(pieces).toEqual(all);
    }
  });

  it("lists each observation once: not what the crawl cache answered again", async () => {
    const [first] = await stored([at("https://example.org/", "2024-01-01T00:00:00Z")]);
    await stored([at("https://example.org/", "2024-01-01T00:00:00Z", { reusedFrom: first as number })]);
    expect(await lines({ url: "example.org" })).toHaveLength(1);
  });

  it("gives captures of an earlier version their keys before it answers", async () => {
    await stored([at("https://example.org/old", "2020-01-01T00:00:00Z", { withoutKey: true })]);
    expect(await lines({ url: "example.org/old", fl: "urlkey" })).toEqual([["org,example)/old"]]);
  });

  it.each([
    [{}, "url"],
    [{ url: "example.org", filter: "nonsense:x" }, 'There is no field "nonsense"'],
    [{ url: "example.org", filter: "nonsense" }, "is no [!][=|~]field:expression"],
    [{ url: "example.org", filter: "~original:(" }, "cannot be used"],
    [{ url: "example.org", filter: `~original:${"(a{1,100}){1,10}".repeat(3)}` }, "too large"],
    [{ url: "example.org", fl: "urlkey,secret" }, 'There is no field "secret"'],
    [{ url: "example.org", collapse: "timestamp:x" }, "number of characters"],
    [{ url: "example.org", from: "20241301" }, "is no time"],
    [{ url: "example.org", filter: "a".repeat(2001) }, "filter: Too big"],
    [{ url: "example.org", collapse: "a".repeat(2001) }, "collapse: Too big"],
    [{ url: "example.org", to: "soon" }, "is no time"],
    [{ url: "example.org", from: "0000" }, "is no time"],
    [{ url: "example.org", closest: "00000101000000" }, "is no time"],
    [{ url: "example.org", closest: "20240230" }, "is no time"],
    [{ url: "example.org", resumeKey: "WyJhIiw5MDA3MTk5MjU0NzQwOTkxLDEsW11d" }, "not a cursor"],
    [{ url: "example.org", matchType: "range" }, "matchType"],
    [{ url: "example.org", sort: "closest" }, "closest"],
    [{ url: "example.org/*", closest: "2024" }, "one URL only"],
    [{ url: "example.org", resumeKey: "x" }, "not a cursor"],
    [{ url: "example.org", closest: "2024", showResumeKey: "true" }, "does not go with"],
    [{ url: "example.org", limit: "many" }, "limit"],
    [{ url: "example.org", gzip: "false" }, "unknown field"],
  ])("%j is refused: %s", async (parameters, message) => {
    const answer = await query(parameters as Record<string, string>);
    expect([answer.status, answer.body.code]).toEqual([400, "VALIDATION_ERROR"]);
    expect(answer.body.error).toContain(message);
  });

  it("reads an index that is longer than a page of rows", async () => {
    await setup.database.sql`delete from captures`;
    const [one] = await stored([at("https://example.org/0", "2024-01-01T00:00:00Z")]);
    await setup.database.sql`
      insert into captures (job_id, url, url_hash, final_url, final_url_hash, depth, status_code, headers, fetched_at, fetch_time_ms,
        payload_bytes, truncated, not_modified, batch_key, batch_index, warc_key, warc_offset, warc_length, warc_record_id, url_key)
      select job_id, url, '', url, '', 0, 200, '[]', fetched_at, 0, 0, false, false, '', 0, 'w', n, 1, 'x', 'org,example)/' || n
      from captures, generate_series(1, 2500) n where id = ${one as number}`;
    expect(await lines({ url: "example.org/*", fl: "urlkey" })).toHaveLength(2501);
    expect(await lines({ url: "example.org/*", fl: "urlkey", limit: "-1100" })).toHaveLength(1100);
  });
});
