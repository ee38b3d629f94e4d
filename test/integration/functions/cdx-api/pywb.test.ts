/**
 * What pywb answers on a WARC file, as it was recorded, and what is answered here on the same file: field by field, but
 * for what the guide to the archive says is another thing.
 */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createApiKey } from "../../../../shared/access/api-keys.ts";
import { callApi, callStreamApi } from "../../../services/api.ts";
import { type ArchiveSetup, archiveSetup } from "../../archive/archive-setup.ts";

type Row = Record<string, string>;
interface Answers {
  cdx: { query: string; rows: Row[] }[];
  gates: { url: string; datetime: string | null; status: number; vary: string | null; link: string | null }[];
  timemaps: { url: string; status: number; type: string; body: string | null }[];
}

const FIXTURES = join(import.meta.dirname, "../../../fixtures/pywb");
const answers: Answers = JSON.parse(await readFile(join(FIXTURES, "answers.json"), "utf8"));
const REPLAY = "http://replay.test";
let setup: ArchiveSetup;
let api: typeof import("../../../../functions/cdx-api/handler.ts").api;
let key: string;

beforeAll(async () => {
  setup = await archiveSetup({ ARCHIVE__REPLAY_URL: REPLAY });
  ({ api } = await import("../../../../functions/cdx-api/handler.ts"));
  ({ key } = await createApiKey(setup.sql, {
    name: "reader",
    scopes: ["read"],
    rateLimitRpm: 100_000,
    expiresAt: null,
  }));
  const { complaints } = await setup.importFile(await readFile(join(FIXTURES, "site.warc.gz")), "site.warc.gz");
  expect(complaints).toEqual([]);
});
afterAll(() => setup.close());

const NAMES: Readonly<Record<string, string>> = { original: "url", mimetype: "mime", statuscode: "status" };
const NEVER_KNOWN = new Set(["redirect", "robotflags"]);

/** A line of an index, without what the guide says is another thing. */
function comparable(row: Row): Row {
  const known = Object.entries(row).filter(([name, value]) => value !== "-" && !NEVER_KNOWN.has(name));
  const { digest, status, ...rest }: Row = Object.fromEntries(
    known.map(([name, value]) => {
      const isFile = /(^|\.)filename$/.test(name);
      return [NAMES[name] ?? name, isFile ? (value.split("/").at(-1) ?? "") : value];
    }),
  );
  const isOfAnswer =
    rest["mime"] !== "warc/revisit" && !("orig.offset" in rest) && !rest["url"]?.endsWith("/resource.txt");
  return {
    ...rest,
    ...(digest && { digest: digest.replace("sha1:", "") }),
    ...(status && isOfAnswer && { status }),
  };
}

/** Of which pywb has a key of its own, or which it leaves out of a domain. */
const isApart = ({ url = "" }: Row, query: string) =>
  url.includes("jsessionid") || (url.includes(":8080") && /url=%2A|=domain/.test(query));
/** Where pywb takes what no line matches for a page that it has under a similar address. */
const SIMILAR = "url=site.example%2F%2A&filter=%3Dstatus%3A999";

describe("the index", () => {
  const linesOf = async (query: string) => {
    const { answer } = await callStreamApi(api, { path: `/api/cdx?${query}&output=ndjson`, key });
    expect(answer.status).toBe(200);
    const lines: string[] = (answer.body ?? "").split("\n").filter(Boolean);
    return lines.map((line) => comparable(JSON.parse(line)));
  };

  it.each(answers.cdx)("has for $query what pywb has", async ({ query, rows }) => {
    const ours = (await linesOf(query)).filter((row) => !isApart(row, query));
    const theirs = rows.map(comparable).filter((row) => !isApart(row, query));
    expect(ours).toEqual(query === SIMILAR ? [] : theirs);
  });
});

/** Links by what they are, of a header or of a TimeMap. */
const linksOf = (text: string) =>
  [...text.matchAll(/<([^>]*)>((?:; ?\w+="[^"]*")*)/g)].map(([, uri = "", parameters = ""]) => ({
    uri,
    ...Object.fromEntries([...parameters.matchAll(/(\w+)="([^"]*)"/g)].map(([, name, value]) => [name, value])),
  })) as { uri: string; rel: string; datetime?: string; type?: string }[];

const isMemento = ({ rel }: { rel: string }) => rel.split(" ").includes("memento");
/** Second and URL of a memento, which both name in their own way. */
const mementoOf = ({ uri, datetime }: { uri: string; datetime?: string }) => {
  const [, second, url] = /\/(\d{14})(?:mp_)?\/(.*)$/.exec(uri) ?? [];
  return { second, url, datetime };
};

describe("the TimeGate", () => {
  it.each(answers.gates)(
    "of $url leads at $datetime where pywb does",
    async ({ url, datetime, status, vary, link }) => {
      const headers: Record<string, string> = datetime === null ? {} : { "accept-datetime": datetime };
      const ours = await callApi(api, { path: `/timegate/${url}`, headers });
      if (status === 404) return expect(ours.status).toBe(404);
      expect([status, ours.status]).toEqual([200, 302]);
      expect(ours.headers["vary"]?.toLowerCase()).toContain(vary);
      const theirs = linksOf(link ?? "");
      const links = linksOf(ours.headers["link"] ?? "");
      const chosen = theirs.filter(isMemento).map(mementoOf);
      expect(links.filter(isMemento).map(mementoOf)).toEqual(expect.arrayContaining(chosen));
      expect([mementoOf({ uri: ours.headers["location"] ?? "" })]).toEqual([{ ...chosen[0], datetime: undefined }]);
      const uriBy = (all: typeof theirs, rel: string) => all.find((each) => each.rel === rel)?.uri;
      expect(uriBy(links, "original")).toBe(uriBy(theirs, "original"));
      for (const rel of ["timegate", "timemap"]) expect(links.some((each) => each.rel === rel)).toBe(true);
    },
  );
});

describe("the TimeMap", () => {
  it.each(answers.timemaps)("of $url names what pywb's names", async ({ url, status, type, body }) => {
    const ours = await callApi(api, { path: `/timemap/link/${url}` });
    expect(ours.status).toBe(status);
    if (body === null) return;
    expect(ours.headers["content-type"]).toContain(type);
    const theirs = linksOf(body);
    const links = linksOf(ours.body);
    expect(links.filter(isMemento).map(mementoOf)).toEqual(theirs.filter(isMemento).map(mementoOf));
    for (const rel of ["original", "self", "timegate"]) {
      const [one, other] = [theirs, links].map((all) => all.find((each) => each.rel === rel));
      expect([rel, other?.type]).toEqual([rel, one?.type]);
      if (rel === "original") expect(other?.uri).toBe(one?.uri);
    }
  });
});
