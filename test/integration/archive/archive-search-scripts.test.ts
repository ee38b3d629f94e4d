/** Queries as people of many languages and keyboards write them; totals, orders and pages of results agree. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { StreamApi } from "../../../functions/adapters/api/stream-api.ts";
import { createApiKey } from "../../../shared/access/api-keys.ts";
import { indexSnapshots } from "../../../shared/archive/search/index-snapshots.ts";
import { type ArchiveSearch, searchArchive } from "../../../shared/archive/search/search-archive.ts";
import { callApi } from "../../services/api.ts";
import { type ArchiveSetup, archiveSetup } from "./archive-setup.ts";
import { http, record } from "./warc-records.ts";

const HTML = "Content-Type: text/html; charset=utf-8\r\n";

/** By a name: language, URL, title, text. */
const PAGES: Record<string, [language: string, url: string, title: string, text: string]> = {
  thai: ["th", "http://th.test/flu", "วัคซีนไข้หวัดใหญ่", "วัคซีนไข้หวัดใหญ่ช่วยป้องกันโรคในเด็กและผู้สูงอายุ ควรล้างมือบ่อยๆ ด้วยสบู่"],
  arabic: [
    "ar",
    "http://ar.test/flu",
    "لقاح الإنفلونزا",
    "يحمي اللقاح الأطفال من المرض. اغسل يديك كثيرًا بالماء والصابون كل يوم.",
  ],
  japanese: [
    "ja",
    "http://ja.test/flu",
    "インフルエンザ予防接種",
    "予防接種は子どもを病気から守ります。手をよく洗いましょう。",
  ],
  greek: [
    "el",
    "http://el.test/measles",
    "Εμβόλια για παιδιά",
    "Τα εμβόλια προστατεύουν τα παιδιά από την ιλαρά, λέει ο γιατρός.",
  ],
  vietnamese: [
    "vi",
    "http://vi.test/so",
    "Tiêm chủng cho trẻ em",
    "Vắc xin bảo vệ trẻ em khỏi bệnh sởi. Đường huyết cao là bệnh khác.",
  ],
  turkish: [
    "tr",
    "http://tr.test/asi",
    "İstanbul'da aşı günleri",
    "Aşılar çocukları kızamıktan korur. ISPARTA ilinde de merkezler var.",
  ],
  polish: ["pl", "http://pl.test/lodz", "Szczepienia w Łodzi", "Gruźlica jest chorobą zakaźną. Źródło: miasto Łódź."],
  french: [
    "fr",
    "http://fr.test/hopital",
    "L’hôpital d’été",
    "L’hôpital est ouvert tout l’été. Garçons et filles y apprennent à nager. Pâtes à volonté.",
  ],
  german: [
    "de",
    "http://de.test/massnahmen",
    "Maßnahmen im Alltag",
    "Maßnahmen gegen Läuse: Kämme über Nacht in heißes Wasser legen.",
  ],
  code: [
    "en",
    "http://code.test/lab",
    "C++ and C# for labs",
    "Labs use .NET and C++ 20 by e-mail. The dose is 3.5 mg, see report_2024.pdf and C:\\temp.",
  ],
  percent: [
    "en",
    "http://code.test/rate",
    "Rates",
    "Uptake rose by 50% off season, and by 5 in the reportX2024 list of the U.S. office.",
  ],
  menu: ["en", "http://uni.test/caf%C3%A9/menu", "The menu", "Soup of the day and a quiche, says the cook."],
  books: ["en", "http://xn--bcher-kva.test/shelf", "The shelf", "Novels and atlases stand in the corridor."],
  port: ["en", "http://port.test:8080/x", "A side door", "The janitor has the keys of the side door."],
};

/** Every query with its mode and the pages that it finds, whatever their order. */
const QUERIES: [query: string, mode: string, hits: string][] = [
  ["วัคซีน", "all_terms", "thai"],
  ["ไข้หวัดใหญ่", "all_terms", "thai"],
  ["ล้างมือ สบู่", "all_terms", "thai"],
  ["title:วัคซีน", "boolean", "thai"],
  ["วัคซีน NOT สบู่", "boolean", ""],
  ["اللقاح", "all_terms", "arabic"],
  ["لقاح", "all_terms", "arabic"],
  ["الانفلونزا", "all_terms", "arabic"],
  ["كثيرا", "all_terms", "arabic"],
  ['"بالماء والصابون"', "all_terms", "arabic"],
  ["予防接種", "all_terms", "japanese"],
  ["インフルエンザ", "all_terms", "japanese"],
  ["手を洗う", "any_term", "japanese"],
  ["ﾖﾎﾞｳ OR 予防", "boolean", "japanese"],
  ["εμβολια", "all_terms", "greek"],
  ["ΕΜΒΟΛΙΑ", "all_terms", "greek"],
  ["γιατρος", "all_terms", "greek"],
  ["tre em", "all_terms", "vietnamese"],
  ["duong huyet", "all_terms", "vietnamese"],
  ["Đường", "all_terms", "vietnamese"],
  ["ISTANBUL", "all_terms", "turkish"],
  ["istanbul", "all_terms", "turkish"],
  ["İSTANBUL", "all_terms", "turkish"],
  ["asi", "all_terms", "turkish"],
  ["ısparta", "all_terms", "turkish"],
  ["isparta", "all_terms", "turkish"],
  ["Lodz", "all_terms", "polish"],
  ["gruzlica", "all_terms", "polish"],
  ["hopital", "all_terms", "french"],
  ["l'hôpital", "all_terms", "french"],
  ["l’hopital d'ete", "all_terms", "french"],
  ["«tout l’été»", "all_terms", "french"],
  ["garcons", "all_terms", "french"],
  ["hôp*", "any_term", "french"],
  ["massnahmen", "all_terms", "german"],
  ["MASSNAHMEN", "all_terms", "german"],
  ["Massnahme", "all_terms", "german"],
  ["lause", "all_terms", "german"],
  ["C++", "all_terms", "code"],
  ["e-mail", "all_terms", "code"],
  ["3.5 mg", "all_terms", "code"],
  ["report_2024", "all_terms", "code"],
  ["snippet:report_2024", "boolean", "code"],
  ["snippet:50%", "boolean", "percent"],
  ["50%", "all_terms", "percent"],
  ["U.S.", "all_terms", "percent"],
  ["bücher.test/shelf", "url", "books"],
  ["http://BÜCHER.test/shelf", "url", "books"],
  ["uni.test/café/menu", "url", "menu"],
  ["HTTP://UNI.TEST/caf%C3%A9/menu", "url", "menu"],
  ["uni.test/caf%c3%a9/menu", "url", "menu"],
  ["url:café", "boolean", "menu"],
  ["port.test:8080/x", "url", "port"],
  ["http://port.test/x", "url", ""],
  ["(soup OR novels) -atlases", "boolean", "menu"],
  ["-(soup) title:menu", "boolean", ""],
  ['soup"quiche"', "all_terms", "menu"],
  ["'soup'", "all_terms", "menu"],
  ["soup AND AND quiche", "all_terms", "menu"],
  ["NOT", "any_term", ""],
  ["AND OR NOT -", "any_term", ""],
  ["NOT -soup", "boolean", "menu"],
  ["((((soup))))", "boolean", "menu"],
  ["SOUP\u3000QUICHE", "all_terms", "menu"],
  ["s\u00adoup", "all_terms", "menu"],
  ["quich*", "all_terms", "menu"],
  ["ｓｏｕｐ", "all_terms", "menu"],
];

let setup: ArchiveSetup;
let api: StreamApi;
let key: string;
const names = new Map(Object.entries(PAGES).map(([name, [, url]]) => [url, name]));

beforeAll(async () => {
  setup = await archiveSetup();
  ({ api } = await import("../../../functions/archive-search-api/handler.ts"));
  ({ key } = await createApiKey(setup.sql, {
    name: "test",
    scopes: ["admin"],
    rateLimitRpm: 100_000,
    expiresAt: null,
  }));
  await setup.importRecords(
    Object.values(PAGES).map(([language, url, title, text], at) =>
      record(
        http(
          `<html lang=${language}><head><title>${title}</title></head><body><main><h1>${title}</h1><p>${text}</p></main></body></html>`,
          HTML,
        ),
        { url, date: `2026-01-${String(at + 1).padStart(2, "0")}T10:00:00Z` },
      ),
    ),
  );
  await indexSnapshots(setup.dependencies, () => true);
});
afterAll(() => setup.close());

interface Results {
  total: number;
  results: { id: number; originalUrl: string }[];
}

const search = async (parameters: Record<string, string>): Promise<Results> => {
  const { status, body } = await callApi(api, { path: `/api/search?${new URLSearchParams(parameters)}` });
  expect(status).toBe(200);
  return body as Results;
};
const hitsOf = ({ results }: Results) =>
  results
    .map(({ originalUrl }) => names.get(originalUrl) ?? originalUrl)
    .sort()
    .join(" ");

it.each(QUERIES)("%s is searched by %s and finds %s", async (q, mode, hits) => {
  const found = await search({ q, pageSize: "100" });
  const path = `/api/admin/search-debug?${new URLSearchParams({ q, pageSize: "100" })}`;
  expect([(await callApi(api, { path, key })).body.mode, hitsOf(found)]).toEqual([mode, hits]);
  const listings: Record<string, string>[] = [{ sort: "newest" }, { sort: "relevance" }, { view: "pages" }];
  for (const parameters of listings) {
    const all: Results["results"] = [];
    for (let page = 1; page <= found.total + 1; page++) {
      const one = await search({ q, ...parameters, page: String(page), pageSize: "1" });
      expect(one.total).toBe(found.total);
      all.push(...one.results);
    }
    expect(all).toHaveLength(found.total);
    expect(hitsOf({ total: 0, results: all })).toBe(hits);
  }
});

describe("2,000 terms", () => {
  const many = Array.from({ length: 2_000 }, (_, n) => (n === 1_234 ? "quiche" : `term${n}`));
  const find = async (query: string, sort: ArchiveSearch["sort"]) => {
    const rest = { view: "snapshots", includeNon2xx: false, includeDuplicates: false, limit: 20, offset: 0 } as const;
    const { total, results, mode } = await searchArchive(setup.sql, { query, sort, ranking: "v2", ...rest });
    expect(total).toBe(results.length);
    return [mode, ...results.map(({ url }) => names.get(url))];
  };

  it.each([
    ["words", many.join(" "), ["any_term", "menu"]],
    ["alternatives", many.join(" OR "), ["boolean", "menu"]],
    ["exclusions", `soup ${many.map((term) => `-${term}x`).join(" ")}`, ["boolean", "menu"]],
    ["a phrase", `"${many.join(" ")}"`, ["any_term", "menu"]],
    ["nested groups", `${"(".repeat(2_000)}quiche`, ["boolean", "menu"]],
    ["nested denials", `${"NOT ".repeat(2_000)}soup`, ["boolean", "menu"]],
  ])("as %s are read, searched, and counted", async (_, query, expected) => {
    for (const sort of ["relevance", "newest"] as const) expect(await find(query, sort)).toEqual(expected);
  });

  it("are more than the interface takes", async () => {
    const { status, body } = await callApi(api, { path: `/api/search?q=${"a%20AND%20".repeat(43)}` });
    expect([status, body.code]).toEqual([422, "VALIDATION_ERROR"]);
    expect((await callApi(api, { path: `/api/search?q=${encodeURIComponent(many.join(" "))}` })).status).toBe(414);
  });
});
