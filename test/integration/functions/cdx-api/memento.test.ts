import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { api } from "../../../../functions/cdx-api/handler.ts";
import { callApi } from "../../../services/api.ts";
import { type ApiSetup, setUpApi } from "../api-setup.ts";
import { insertTestCaptures } from "./captured.ts";

const REPLAY = "http://replay.test:9";
let setup: ApiSetup;
beforeAll(async () => {
  setup = await setUpApi({ ARCHIVE__REPLAY_URL: REPLAY });
});
afterAll(() => setup.close());
beforeEach(async () => {
  await setup.database.sql`delete from jobs`;
});

const PAGE = "https://example.org/Page?b=2&a=1";
const stored = (url: string, ...times: string[]) =>
  insertTestCaptures(
    setup.database.sql,
    times.map((time) => ({ url, time: `${time}Z` })),
  );
const ask = (path: string, headers: Record<string, string> = {}, method = "GET") =>
  callApi(api, { method, path, headers });
const gate = (url: string, datetime?: string) =>
  ask(`/timegate/${url}`, datetime === undefined ? {} : { "accept-datetime": datetime });

/** A Link header, or a TimeMap, as its links. */
const linksOf = (text: string) =>
  [...text.matchAll(/<([^>]*)>((?:; ?\w+="[^"]*")*)/g)].map(([, uri, parameters = ""]) => ({
    uri,
    ...Object.fromEntries([...parameters.matchAll(/(\w+)="([^"]*)"/g)].map(([, name, value]) => [name, value])),
  }));
const uriOf = (digits: string, url = PAGE) => `${REPLAY}/${digits}/${url}`;

describe("the TimeGate", () => {
  it("leads to the nearest capture, with links to what is around it", async () => {
    await stored(
      PAGE,
      "2020-01-01T00:00:00",
      "2022-01-01T00:00:00.900",
      "2022-01-01T00:00:00.950",
      "2024-01-01T00:00:00",
    );
    const answer = await gate(PAGE, "Sat, 01 Jan 2022 00:00:05 GMT");
    expect([answer.status, answer.headers["location"]]).toEqual([302, uriOf("20220101000000")]);
    expect(answer.headers["vary"]).toContain("accept-datetime");
    expect(answer.headers).not.toHaveProperty("memento-datetime");
    expect(linksOf(answer.headers["link"] ?? "")).toEqual([
      { uri: PAGE, rel: "original" },
      { uri: `http://api.test/timegate/${PAGE}`, rel: "timegate" },
      { uri: `http://api.test/timemap/link/${PAGE}`, rel: "timemap", type: "application/link-format" },
      { uri: `http://api.test/timemap/json/${PAGE}`, rel: "timemap", type: "application/json" },
      { uri: uriOf("20200101000000"), rel: "first prev memento", datetime: "Wed, 01 Jan 2020 00:00:00 GMT" },
      { uri: uriOf("20220101000000"), rel: "memento", datetime: "Sat, 01 Jan 2022 00:00:00 GMT" },
      { uri: uriOf("20240101000000"), rel: "next last memento", datetime: "Mon, 01 Jan 2024 00:00:00 GMT" },
    ]);
  });

  it.each([
    [undefined, "20240101000000"],
    ["Thu, 01 Jan 1970 00:00:00 GMT", "20200101000000"],
    ["Fri, 01 Jan 2100 00:00:00 GMT", "20240101000000"],
    // as far from the one as from the other, and a second later
    ["Fri, 31 Dec 2021 12:00:00 GMT", "20200101000000"],
    ["Fri, 31 Dec 2021 12:00:01 GMT", "20240101000000"],
    ["Sun, 02 Jan 2022 00:00:01 GMT", "20240101000000"],
  ])("for %s it is that of %s", async (datetime, digits) => {
    await stored(PAGE, "2020-01-01T00:00:00", "2024-01-01T00:00:00");
    expect((await gate(PAGE, datetime)).headers["location"]).toBe(uriOf(digits));
  });

  it("answers HEAD as GET, and a capture alone is first and last", async () => {
    await stored(PAGE, "2020-01-01T00:00:00");
    const answer = await ask(`/timegate/${PAGE}`, {}, "HEAD");
    expect([answer.status, answer.body]).toEqual([302, undefined]);
    expect(linksOf(answer.headers["link"] ?? "").at(-1)).toMatchObject({ rel: "first last memento" });
  });

  it.each(["yesterday", "2022-01-01", "Sat, 31 Feb 2022 00:00:00 GMT", "Sat, 1 Jan 2022 00:00:00 GMT", ""])(
    "refuses %j as Accept-Datetime",
    async (datetime) => {
      await stored(PAGE, "2020-01-01T00:00:00");
      const answer = await gate(PAGE, datetime);
      expect([answer.status, answer.headers["vary"]]).toEqual([400, expect.stringContaining("accept-datetime")]);
    },
  );

  it("knows no capture of a URL that has none, and no URL that is none of the web", async () => {
    expect((await gate(PAGE)).status).toBe(404);
    expect((await gate("ftp://example.org/")).status).toBe(400);
    expect((await gate("http://")).status).toBe(400);
  });
});

describe("whose captures they are", () => {
  it.each([
    [
      "the very URL, not one with another order",
      "https://example.org/Page?a=1&b=2",
      "https://example.org/Page?a=1&b=2",
    ],
    ["the very case", "https://example.org/page?b=2&a=1", "https://example.org/page?b=2&a=1"],
    ["the other scheme", "http://example.org/Page?b=2&a=1", PAGE],
    ["another order, where the very URL was never captured", "https://example.org/pAGE?a=1&b=2", PAGE],
    [
      "another session",
      "https://example.org/s?sid=0123456789abcdef0123456789abcdef",
      "https://example.org/s?sid=fedcba9876543210fedcba9876543210",
    ],
    ["blanks as plus", "https://example.org/q?x=a+b&flag", "https://example.org/q?x=a+b&flag"],
    ["a URL in the query", "https://example.org/to?u=http://a.test/b?c", "https://example.org/to?u=http://a.test/b?c"],
    ["without a scheme", "example.org/Page?b=2&a=1", PAGE],
    ["one slash of the scheme lost", "https:/example.org/Page?b=2&a=1", PAGE],
    ["percent-encoded as a whole", encodeURIComponent(PAGE), PAGE],
  ])("%s", async (_what, asked, found) => {
    await stored(PAGE, "2023-01-01T00:00:00");
    await stored("https://example.org/Page?a=1&b=2", "2020-01-01T00:00:00");
    await stored("https://example.org/page?b=2&a=1", "2021-01-01T00:00:00");
    await stored("https://example.org/s?sid=fedcba9876543210fedcba9876543210", "2022-01-01T00:00:00");
    await stored("https://example.org/q?x=a+b&flag", "2022-01-01T00:00:00");
    await stored("https://example.org/to?u=http://a.test/b?c", "2022-01-01T00:00:00");
    const { headers } = await gate(asked);
    expect(headers["location"]?.slice(REPLAY.length + 16)).toBe(found);
  });
});

describe("TimeMaps", () => {
  it("list all captures in link format, one for each second", async () => {
    await stored(
      PAGE,
      "2024-01-01T00:00:00",
      "2020-01-01T00:00:00.100",
      "2020-01-01T00:00:00.900",
      "2022-01-01T00:00:00",
    );
    const answer = await ask(`/timemap/link/${PAGE}`);
    expect([answer.status, answer.headers["content-type"]]).toEqual([200, "application/link-format"]);
    expect(linksOf(answer.body)).toEqual([
      { uri: PAGE, rel: "original" },
      { uri: `http://api.test/timegate/${PAGE}`, rel: "timegate" },
      {
        uri: `http://api.test/timemap/link/${PAGE}`,
        rel: "self",
        type: "application/link-format",
        from: "Wed, 01 Jan 2020 00:00:00 GMT",
        until: "Mon, 01 Jan 2024 00:00:00 GMT",
      },
      { uri: uriOf("20200101000000"), rel: "first memento", datetime: "Wed, 01 Jan 2020 00:00:00 GMT" },
      { uri: uriOf("20220101000000"), rel: "memento", datetime: "Sat, 01 Jan 2022 00:00:00 GMT" },
      { uri: uriOf("20240101000000"), rel: "last memento", datetime: "Mon, 01 Jan 2024 00:00:00 GMT" },
    ]);
  });

  it("list them in JSON", async () => {
    await stored(PAGE, "2020-01-01T00:00:00", "2022-01-01T00:00:00");
    const { body } = await ask(`/timemap/json/${PAGE}`);
    const list = [
      { datetime: "2020-01-01T00:00:00Z", uri: uriOf("20200101000000") },
      { datetime: "2022-01-01T00:00:00Z", uri: uriOf("20220101000000") },
    ];
    expect(body).toMatchObject({ original_uri: PAGE, self: `http://api.test/timemap/json/${PAGE}` });
    expect(body.mementos).toEqual({ list, first: list[0], last: list[1] });
    expect((await ask(`/timemap/json/https://nowhere.example/`)).status).toBe(404);
  });

  it("are whole where there are more captures than are read at once", async () => {
    const [one] = await stored(PAGE, "2020-01-01T00:00:00");
    await setup.database.sql`
      insert into captures (job_id, url, url_hash, final_url, final_url_hash, depth, status_code, headers, fetched_at, fetch_time_ms,
        payload_bytes, truncated, not_modified, batch_key, batch_index, warc_key, warc_offset, warc_length, warc_record_id, url_key)
      select job_id, url, '', url, '', 0, 200, '[]', fetched_at + n * interval '1 minute', 0, 0, false, false, '', 0, 'w', n, 1, 'x',
        url_key from captures, generate_series(1, 2200) n where id = ${one as number}`;
    expect((await ask(`/timemap/json/${PAGE}`)).body.mementos.list).toHaveLength(2201);
  });
});
