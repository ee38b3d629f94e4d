import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { StreamApi } from "../../../functions/adapters/api/stream-api.ts";
import { createApiKey } from "../../../shared/access/api-keys.ts";
import { indexSnapshots } from "../../../shared/archive/search/index-snapshots.ts";
import {
  type ArchiveQuery,
  type Expression,
  parseArchiveQuery,
} from "../../../shared/archive/search/query-language.ts";
import { type ArchiveSearch, searchArchive } from "../../../shared/archive/search/search-archive.ts";
import { connectDatabase, type Sql } from "../../../shared/platform/database/database.ts";
import { callApi } from "../../services/api.ts";
import { type ArchiveSetup, archiveSetup } from "./archive-setup.ts";
import { http, record } from "./warc-records.ts";

const HTML = "Content-Type: text/html; charset=utf-8\r\n";

/** Pages by a name: language, URL, title, text. */
const PAGES: Record<string, [language: string, url: string, title: string, text: string]> = {
  vaccines: [
    "en",
    "http://health.test/vaccines",
    "COVID-19 vaccines",
    "Vaccines for children and adults are safe and effective. See the dosage of each vaccine.",
  ],
  flu: [
    "en",
    "http://health.test/en/seasonal/flu",
    "Seasonal influenza",
    "Influenza is a contagious disease. Wash your hands and stay home.",
  ],
  mercury: [
    "en",
    "http://health.test/food/mercury",
    "Mercury in fish",
    "Do not eat shark more than once a month. Salt and pepper are safe.",
  ],
  salt: [
    "en",
    "http://health.test/food/salt",
    "Salt and your health",
    "Eat less salt, or none at all. Sodium raises blood pressure by 100% in rats.",
  ],
  archived: [
    "en",
    "http://health.test/old/salt",
    "Archived - Salt and your health",
    "Archived. Eat less salt and drink more water.",
  ],
  node: [
    "en",
    "http://tech.test/node",
    "Node.js for clinics",
    "Node.js 24 runs the snake_case_name module of the clinic's server.",
  ],
  tracked: [
    "en",
    "http://tech.test/node?utm_source=mail",
    "Node.js for clinics",
    "Node.js 24 runs the snake_case_name module of the clinic's server, says the letter.",
  ],
  grippe: [
    "fr",
    "http://sante.test/grippe",
    "La grippe saisonnière",
    "La grippe est une maladie contagieuse. Lavez-vous les mains et restez à la maison.",
  ],
  metal: [
    "fr",
    "http://sante.test/mercure",
    "Le mercure dans le poisson",
    "Les femmes enceintes ne mangent pas de requin. L'œuf et le cœur sont sûrs.",
  ],
  impfung: [
    "de",
    "http://gesund.test/impfung",
    "Impfungen für Kinder",
    "Die Impfung schützt Kinder vor Masern. Grüße aus der Straße der Ärzte.",
  ],
  vacuna: [
    "es",
    "http://salud.test/vacunas",
    "Vacunas para niños",
    "Las vacunas protegen a los niños del sarampión. Información para mañana.",
  ],
  yimiao: ["zh", "http://jiankang.test/yimiao", "儿童疫苗接种", "疫苗接种保护儿童免受麻疹感染。请咨询您的医生。"],
  russian: [
    "ru",
    "http://zdorovie.test/privivki",
    "Прививки для детей",
    "Прививки защищают детей от кори. Всё о здоровье ребёнка.",
  ],
};

const answer = ([language, , title, text]: (typeof PAGES)[string]) =>
  http(
    `<html lang=${language}><head><title>${title}</title></head><body><main><h1>${title}</h1><p>${text}</p></main></body></html>`,
    HTML,
  );

/** Every query with what it is read as, how it is searched, and the pages that it finds, whatever their order. */
const QUERIES: [query: string, parse: string, mode: string, hits: string][] = [
  ["influenza", "text influenza", "all_terms", "flu"],
  ["INFLUENZA", "text INFLUENZA", "all_terms", "flu"],
  ["vaccines", "text vaccines", "all_terms", "vaccines"],
  ["vaccine", "text vaccine", "all_terms", "vaccines"],
  ["vaccine children", "text vaccine children", "all_terms", "vaccines"],
  ["salt", "text salt", "all_terms", "archived mercury salt"],
  ["SALT", "text SALT", "all_terms", "archived mercury salt"],
  ["do not eat", "text do not eat", "all_terms", "archived mercury salt"],
  ["salt and pepper", "text salt and pepper", "all_terms", "mercury"],
  ["salt or none", "text salt or none", "all_terms", "salt"],
  ['"contagious disease"', 'text "contagious disease"', "all_terms", "flu"],
  ["“contagious disease”", 'text "contagious disease"', "all_terms", "flu"],
  ['"disease contagious"', 'text "disease contagious"', "any_term", "flu grippe"],
  ['safe "in fish"', 'text safe "in fish"', "all_terms", "mercury"],
  ['"salt and pepper"', 'text "salt and pepper"', "all_terms", "mercury"],
  ['"salt or pepper"', 'text "salt or pepper"', "any_term", "archived mercury salt"],
  ['"and your health"', 'text "and your health"', "all_terms", "archived salt"],
  ['"do not eat"', 'text "do not eat"', "all_terms", "mercury"],
  ['"in the fish"', 'text "in the fish"', "any_term", "mercury"],
  ['salt -"or none"', 'and(salt, not("or none"))', "boolean", "archived mercury"],
  ['"reste dans la maison"', 'text "reste dans la maison"', "any_term", "grippe"],
  ['"restez a la maison"', 'text "restez a la maison"', "all_terms", "grippe"],
  ['"für Kinder"', 'text "für Kinder"', "all_terms", "impfung"],
  ["covid-19", "text covid-19", "all_terms", "vaccines"],
  ["covid", "text covid", "all_terms", "vaccines"],
  ["node.js", "host? http://node.js", "all_terms", "node tracked"],
  ["snake_case_name", "text snake_case_name", "all_terms", "node tracked"],
  ["100%", "text 100%", "all_terms", "salt"],
  ["%", "text ", "any_term", ""],
  ["_", "text ", "any_term", ""],
  ["dosage", "text dosage", "all_terms", "vaccines"],
  ["hand washing", "text hand washing", "all_terms", "flu"],
  ["state-of-the-art", "text state-of-the-art", "any_term", ""],
  ["sal", "text sal", "any_term", "archived mercury salt vacuna"],
  ["vaccine pepper", "text vaccine pepper", "any_term", "mercury vaccines"],
  ["grippe", "text grippe", "all_terms", "grippe"],
  ["maladie contagieuse", "text maladie contagieuse", "all_terms", "grippe"],
  ["saisonnière", "text saisonnière", "all_terms", "grippe"],
  ["saisonniere", "text saisonniere", "all_terms", "grippe"],
  ["poisson mercure", "text poisson mercure", "all_terms", "metal"],
  ["œuf", "text œuf", "all_terms", "metal"],
  ["oeuf", "text oeuf", "all_terms", "metal"],
  ["coeur", "text coeur", "all_terms", "metal"],
  ["requins", "text requins", "all_terms", "metal"],
  ["femme enceinte", "text femme enceinte", "all_terms", "metal"],
  ['"restez à la maison"', 'text "restez à la maison"', "all_terms", "grippe"],
  ["Impfung", "text Impfung", "all_terms", "impfung"],
  ["Impfungen", "text Impfungen", "all_terms", "impfung"],
  ["Straße", "text Straße", "all_terms", "impfung"],
  ["strasse", "text strasse", "all_terms", "impfung"],
  ["Kinder Masern", "text Kinder Masern", "all_terms", "impfung"],
  ["arzte", "text arzte", "all_terms", "impfung"],
  ["vacunas niños", "text vacunas niños", "all_terms", "vacuna"],
  ["vacunas ninos", "text vacunas ninos", "all_terms", "vacuna"],
  ["informacion", "text informacion", "all_terms", "vacuna"],
  ["manana", "text manana", "all_terms", "vacuna"],
  ["疫苗", "text 疫苗", "all_terms", "yimiao"],
  ["儿童疫苗", "text 儿童疫苗", "all_terms", "yimiao"],
  ["麻疹 医生", "text 麻疹 医生", "all_terms", "yimiao"],
  ["прививки", "text прививки", "all_terms", "russian"],
  ["ребенка", "text ребенка", "all_terms", "russian"],
  ["прививка детям", "text прививка детям", "all_terms", "russian"],
  ["salt AND pepper", "and(salt, pepper)", "boolean", "mercury"],
  ["salt OR influenza", "or(salt, influenza)", "boolean", "archived flu mercury salt"],
  ["salt NOT pepper", "and(salt, not(pepper))", "boolean", "archived salt"],
  ["salt AND NOT pepper", "and(salt, not(pepper))", "boolean", "archived salt"],
  ["salt -pepper", "and(salt, not(pepper))", "boolean", "archived salt"],
  ["(salt OR flu) AND hands", "and(or(salt, flu), hands)", "boolean", "flu"],
  ["salt OR flu AND hands", "or(salt, and(flu, hands))", "boolean", "archived flu mercury salt"],
  ["salt (pepper OR water)", "and(salt, or(pepper, water))", "boolean", "archived mercury"],
  ["NOT salt", "not(salt)", "boolean", "flu grippe impfung metal node russian tracked vaccines vacuna yimiao"],
  ["-salt", "not(salt)", "boolean", "flu grippe impfung metal node russian tracked vaccines vacuna yimiao"],
  ["NOT NOT salt", "salt", "boolean", "archived mercury salt"],
  ["salt -(pepper OR water)", "and(salt, not(or(pepper, water)))", "boolean", "salt"],
  ['salt -"drink more"', 'and(salt, not("drink more"))', "boolean", "mercury salt"],
  ["title:salt", "title:salt", "boolean", "archived salt"],
  ["TITLE:salt", "title:salt", "boolean", "archived salt"],
  ['title:"salt and your"', 'title:"salt and your"', "boolean", "archived salt"],
  ["title:saisonniere", "title:saisonniere", "boolean", "grippe"],
  ["title:прививки", "title:прививки", "boolean", "russian"],
  ["title:疫苗", "title:疫苗", "boolean", "yimiao"],
  ["title:%", "text ", "any_term", ""],
  ["snippet:sodium", "snippet:sodium", "boolean", "salt"],
  ["snippet:snake_case", "snippet:snake_case", "boolean", "node tracked"],
  ["snippet:snakeXcase", "snippet:snakeXcase", "boolean", ""],
  ["url:food", "url:food", "boolean", "mercury salt"],
  ["url:utm_source", "url:utm_source", "boolean", "tracked"],
  ["title:vaccines AND url:health", "and(title:vaccines, url:health)", "boolean", "vaccines"],
  ["children OR niños", "or(children, niños)", "boolean", "vaccines vacuna"],
  ["(vaccine OR 疫苗) -children", "and(or(vaccine, 疫苗), not(children))", "boolean", "yimiao"],
  ["node.js NOT letter", "and(node.js, not(letter))", "boolean", "node"],
  ["url:health.test/food/salt", "url http://health.test/food/salt", "url", "salt"],
  ["url:http://health.test/vaccines", "url http://health.test/vaccines", "url", "vaccines"],
  ["http://health.test/food/salt", "url http://health.test/food/salt", "url", "salt"],
  ["https://www.health.test/food/salt/", "url https://www.health.test/food/salt/", "url", "salt"],
  ["health.test/food/mercury?x=1#y", "url http://health.test/food/mercury?x=1#y", "url", "mercury"],
  ["tech.test/node", "url http://tech.test/node", "url", "node tracked"],
  ["http://nowhere.test/", "url http://nowhere.test/", "url", ""],
  ["health.test", "host? http://health.test", "all_terms", "archived flu mercury salt vaccines"],
  ["- salt", "text salt", "all_terms", "archived mercury salt"],
  ["AND", "text AND", "any_term", "archived flu mercury salt vaccines"],
  ["OR NOT", "text OR NOT", "any_term", ""],
  ["salt AND", "text salt AND", "all_terms", "archived mercury salt"],
  ["OR salt", "text OR salt", "all_terms", "archived mercury salt"],
  ["((salt", "salt", "boolean", "archived mercury salt"],
  ["salt)", "text salt)", "all_terms", "archived mercury salt"],
  ["()", "text ", "any_term", ""],
  ['"salt', 'text "salt"', "all_terms", "archived mercury salt"],
  ['""', "text ", "any_term", ""],
  ["f(x) salt", "text f(x) salt", "any_term", "archived mercury salt"],
  ["title:", "text title", "any_term", ""],
  ["vacine", "text vacine", "fuzzy", "vaccines"],
  ["influenzza", "text influenzza", "fuzzy", "flu"],
  ["inflenza hands", "text inflenza hands", "fuzzy", "flu"],
  ["maladei contagieuse", "text maladei contagieuse", "fuzzy", "grippe"],
  ["Impfugn", "text Impfugn", "fuzzy", "impfung"],
  ["zzzzqqqq", "text zzzzqqqq", "any_term", ""],
  [
    "",
    "browse",
    "browse",
    "archived flu grippe impfung mercury metal node russian salt tracked vaccines vacuna yimiao",
  ],
];

function shown(query: ArchiveQuery): string {
  if (query.mode === "browse") return "browse";
  if (query.mode === "url") return `${query.isCertain ? "url" : "host?"} ${query.url}`;
  if (query.mode === "text")
    return `text ${[...query.words, ...query.phrases.map((phrase) => `"${phrase}"`)].join(" ")}`;
  return expression(query.expression);
}

function expression(each: Expression): string {
  if (each.kind === "not") return `not(${expression(each.of)})`;
  if (each.kind !== "term") return `${each.kind}(${each.of.map(expression).join(", ")})`;
  return `${each.field === null ? "" : `${each.field}:`}${each.isPhrase ? `"${each.text}"` : each.text}`;
}

let setup: ArchiveSetup;
let api: StreamApi;
let key: string;
let names: Map<string, string>;

beforeAll(async () => {
  setup = await archiveSetup({ ARCHIVE__REPLAY_URL: "https://replay.test" });
  ({ api } = await import("../../../functions/archive-search-api/handler.ts"));
  ({ key } = await createApiKey(setup.sql, {
    name: "test",
    scopes: ["admin"],
    rateLimitRpm: 100_000,
    expiresAt: null,
  }));
  names = new Map(Object.entries(PAGES).map(([name, [, url]]) => [url, name]));
  await setup.importRecords(
    Object.values(PAGES).map((page, at) =>
      record(answer(page), { url: page[1], date: `2026-01-${String(at + 1).padStart(2, "0")}T10:00:00Z` }),
    ),
  );
  await indexSnapshots(setup.dependencies, () => true);
});
afterAll(() => setup.close());

const search = async (parameters: Record<string, string>) => {
  const { status, body } = await callApi(api, { path: `/api/search?${new URLSearchParams(parameters)}` });
  expect(status).toBe(200);
  return body as { total: number; results: { id: number; originalUrl: string }[] };
};
const hitsOf = ({ results }: { results: { originalUrl: string }[] }) =>
  results
    .map(({ originalUrl }) => names.get(originalUrl) ?? originalUrl)
    .sort()
    .join(" ");

describe("queries in several languages", () => {
  it("are many", () => expect(QUERIES.length).toBeGreaterThanOrEqual(80));

  it.each(QUERIES)("%s", async (query, parse, mode, hits) => {
    expect(shown(parseArchiveQuery(query))).toBe(parse);
    const found = await search({ q: query, pageSize: "100" });
    const debugged = await callApi(api, {
      path: `/api/admin/search-debug?${new URLSearchParams({ q: query, pageSize: "100" })}`,
      key,
    });
    expect([debugged.body.mode, hitsOf(found)]).toEqual([mode, hits]);
    expect(found.total).toBe(found.results.length);
    expect(hitsOf(await search({ q: query, pageSize: "100", sort: "newest" }))).toBe(hits);
  });
});

describe("what is listed", () => {
  const at = (
    date: string,
    text: string,
    { url = "http://list.test/page", status = "200 OK", title = "Listed" } = {},
  ) =>
    record(
      http(
        `<html lang=en><title>${title}</title><h1>${title}</h1><p>The gazette of ${text}, every week.</p>`,
        HTML,
        status,
      ),
      { url, date },
    );

  beforeAll(async () => {
    await setup.importRecords([
      at("2026-02-01T00:00:00Z", "monday"),
      at("2026-02-01T12:00:00Z", "monday"),
      at("2026-02-01T23:59:59Z", "monday"),
      at("2026-02-02T00:00:00Z", "monday"),
      at("2026-02-03T08:00:00Z", "monday", { status: "404 Not Found" }),
      at("2026-02-03T09:00:00Z", "monday", { status: "301 Moved Permanently", url: "http://list.test/moved" }),
      at("2026-02-04T00:00:00Z", "tuesday", { url: "http://list.test/other", title: "The gazette" }),
      at("2026-02-04T00:00:01Z", "tuesday", { url: "http://list.test/other?page=2", title: "The gazette" }),
    ]);
    await indexSnapshots(setup.dependencies, () => true);
  });

  const listed = async (parameters: Record<string, string>) => {
    const { total, results } = await search({ q: "gazette", pageSize: "100", ...parameters });
    expect(total).toBe(results.length);
    return (results as unknown as { captureTimestamp: string }[]).map(({ captureTimestamp }) =>
      captureTimestamp.slice(5, 19),
    );
  };
  const NEWEST = ["02-04T00:00:01", "02-04T00:00:00", "02-02T00:00:00", "02-01T23:59:59"];

  it("are good captures, and of the same answer on one day the latest", async () => {
    expect(await listed({ sort: "newest" })).toEqual(NEWEST);
    expect((await listed({})).sort()).toEqual(NEWEST.toSorted());
    expect(await listed({ sort: "newest", includeDuplicates: "true" })).toEqual([
      ...NEWEST,
      "02-01T12:00:00",
      "02-01T00:00:00",
    ]);
  });

  it("are others, too, behind the good ones, where they are asked for", async () => {
    expect(await listed({ sort: "newest", includeNon2xx: "true" })).toEqual([
      ...NEWEST,
      "02-03T09:00:00",
      "02-03T08:00:00",
    ]);
    expect((await listed({ includeNon2xx: "1" })).slice(4)).toEqual(["02-03T09:00:00", "02-03T08:00:00"]);
  });

  it("are of days in UTC that belong to it, and of one source", async () => {
    expect(await listed({ sort: "newest", from: "2026-02-01", to: "2026-02-01" })).toEqual(["02-01T23:59:59"]);
    expect(await listed({ sort: "newest", from: "2026-02-02", to: "2026-02-03" })).toEqual(["02-02T00:00:00"]);
    expect(await listed({ source: "List.Test", from: "2026-02-04" })).toHaveLength(2);
    expect(await listed({ source: "health.test" })).toEqual([]);
  });

  it("are pages, each by its latest capture and with their number", async () => {
    const { total, results } = await search({ q: "gazette", view: "pages", sort: "newest" });
    expect([total, results]).toMatchObject([
      2,
      [
        { originalUrl: "http://list.test/other?page=2", pageSnapshotsCount: 2, captureDate: "2026-02-04" },
        { originalUrl: "http://list.test/page", pageSnapshotsCount: 5, captureDate: "2026-02-02" },
      ],
    ]);
  });

  it("comes in pages that hold each result once, whatever the order", async () => {
    for (const sort of ["relevance", "newest"]) {
      const pages = await Promise.all(
        ["1", "2", "3", "4"].map((page) => search({ q: "gazette", sort, page, pageSize: "1" })),
      );
      expect(new Set(pages.flatMap(({ results }) => results.map(({ id }) => id))).size).toBe(4);
      const past = await search({ q: "gazette", sort, page: "1000000000", pageSize: "100" });
      expect([past.total, past.results]).toEqual([4, []]);
    }
  });

  it("has the fields of the interface", async () => {
    const { results } = await search({ q: "influenza" });
    expect(results[0]).toEqual({
      id: expect.any(Number),
      title: "Seasonal influenza",
      sourceCode: "health.test",
      sourceName: "health.test",
      language: "en",
      captureDate: "2026-01-02",
      captureTimestamp: "2026-01-02T10:00:00.000Z",
      jobId: expect.any(Number),
      originalUrl: "http://health.test/en/seasonal/flu",
      snippet: expect.stringContaining("Influenza is a contagious disease."),
      rawSnapshotUrl: expect.stringMatching(/^\/api\/snapshots\/raw\/\d+$/),
      pageSnapshotsCount: null,
      browseUrl: "https://replay.test/20260102100000/http://health.test/en/seasonal/flu",
    });
  });

  it("is refused with what is wrong", async () => {
    const bad = [
      "q=%00",
      `q=${"x".repeat(257)}`,
      "page=0",
      "pageSize=0",
      "pageSize=101",
      "page=1e99",
      "page=1.5",
      "sort=best",
      "view=all",
      "from=2026-02-30",
      "from=0000-01-01",
      "to=0000-12-31",
      "includeNon2xx=maybe",
    ];
    for (const each of bad) {
      const { status, body } = await callApi(api, { path: `/api/search?${each}` });
      expect([each, status, body.code]).toEqual([each, 422, "VALIDATION_ERROR"]);
    }
    expect((await callApi(api, { path: "/api/admin/search-debug?q=salt" })).status).toBe(401);
  });

  it("is asked for as clients of the interface ask, and tells them what is wrong in their field", async () => {
    for (const spelling of ["True", "true", "1", "yes", "ON"]) {
      expect(await listed({ includeNon2xx: spelling })).toHaveLength(6);
    }
    for (const spelling of ["False", "0", "No", "off"])
      expect(await listed({ includeNon2xx: spelling })).toHaveLength(4);
    expect(await listed({ utm_source: "feed", _: "1" })).toHaveLength(4);
    const far = await search({ q: "gazette", page: String(Number.MAX_SAFE_INTEGER), pageSize: "100" });
    expect([far.total, far.results]).toEqual([4, []]);
    const { status, body, headers } = await callApi(api, { path: "/api/search?page=0" });
    expect([status, body.detail, headers["x-api-version"]]).toEqual([422, body.error, "1"]);
    expect((await callApi(api, { path: "/api/search" })).headers["x-api-version"]).toBe("1");
  });

  it("is of all days from the first to the last of the calendar", async () => {
    const { total } = await search({});
    expect(await search({ from: "0001-01-01", to: "9999-12-31" })).toMatchObject({ total });
  });

  it("is read whatever is asked", async () => {
    for (const q of [
      "(".repeat(256),
      "-".repeat(256),
      "NOT ".repeat(64),
      '"'.repeat(255),
      "a AND ".repeat(42),
      "title:(",
      "\\",
      "'",
      "salt & | ! :* <->",
      "🦠",
    ]) {
      const { results, total } = await search({ q, pageSize: "100" });
      expect([q, total]).toEqual([q, results.length]);
    }
  });
});

describe("the order of results", () => {
  const order = async (q: string) =>
    (await search({ q, pageSize: "100" })).results.map(({ originalUrl }) => names.get(originalUrl) ?? originalUrl);
  const debug = async (q: string, ranking = "v2") =>
    (await callApi(api, { path: `/api/admin/search-debug?${new URLSearchParams({ q, ranking })}`, key })).body;

  it("has titles that hold the query first, and archived pages behind", async () => {
    expect(await order("salt")).toEqual(["salt", "archived", "mercury"]);
    expect(await order("node.js")).toEqual(["node", "tracked"]);
  });

  it("is explained: the score is the sum of its parts", async () => {
    const { mode, view, sort, rankingVersion, results } = await debug("salt");
    expect({ mode, view, sort, rankingVersion }).toEqual({
      mode: "all_terms",
      view: "snapshots",
      sort: "relevance",
      rankingVersion: "v2",
    });
    const [salt, archived] = results;
    expect(salt).toMatchObject({
      titleBoost: 0.5,
      archivedPenalty: 0,
      queryPenalty: 0,
      trackingPenalty: 0,
      depthPenalty: -0.04,
      inlinkCount: 0,
    });
    expect(archived.archivedPenalty).toBe(-0.3);
    for (const each of results) {
      const { rankText, titleBoost, archivedPenalty, queryPenalty, trackingPenalty, depthPenalty, authorityBoost } =
        each;
      const sum =
        rankText + titleBoost + archivedPenalty + queryPenalty + trackingPenalty + depthPenalty + authorityBoost;
      expect(each.totalScore).toBeCloseTo(sum, 10);
    }
    const [, tracked] = (await debug("node.js")).results;
    expect(tracked).toMatchObject({
      queryPenalty: -0.1,
      trackingPenalty: -0.1,
      statusCode: 200,
      normalizedUrlGroup: "http://tech.test/node",
    });
  });

  it("takes a page for its URL without a query, whichever capture stands for it", async () => {
    const path = "/api/admin/search-debug?q=node.js&view=pages";
    const pages = async (ranking: string) =>
      (await callApi(api, { path: `${path}&ranking=${ranking}`, key })).body.results;
    const tracked = "http://tech.test/node?utm_source=mail";
    expect(await pages("v2")).toMatchObject([{ originalUrl: tracked, queryPenalty: 0, trackingPenalty: 0 }]);
    expect(await pages("v1")).toMatchObject([{ originalUrl: tracked, queryPenalty: -0.1, trackingPenalty: -0.1 }]);
  });

  it.each([
    ["salt", "broad"],
    ["salt pepper", "mixed"],
    ["salt and pepper", "specific"],
    ['"salt"', "specific"],
    ["covid-19", "specific"],
    ["salt OR pepper", "specific"],
    ["", null],
  ])("is told how much %s says", async (q, queryMode) => {
    expect((await debug(q)).queryMode).toBe(queryMode);
  });

  it("rises for pages that others link to, counted once for each", async () => {
    const linking = (n: number) =>
      record(
        http(
          `<html lang=en><title>Linking</title><h1>Linking ${n}</h1><p>See <a href="http://twin.test/b">one</a> and <a href="http://twin.test/b#x">two</a> of them.</p>`,
          HTML,
        ),
        { url: `http://links.test/${n}`, date: "2026-03-01T00:00:00Z" },
      );
    const twin = (name: string) =>
      record(
        http(`<html lang=en><title>Twin</title><h1>Twin</h1><p>The zeppelin of the twins is in the hangar.</p>`, HTML),
        { url: `http://twin.test/${name}`, date: "2026-03-01T00:00:00Z" },
      );
    await setup.importRecords([twin("b"), twin("a"), linking(1), linking(2), linking(3)]);
    await indexSnapshots(setup.dependencies, () => true);
    expect(await order("zeppelin")).toEqual(["http://twin.test/b", "http://twin.test/a"]);
    const { results } = await debug("zeppelin");
    expect(results.map((each: { inlinkCount: number }) => each.inlinkCount)).toEqual([3, 0]);
    const [first] = (await debug("zeppelin", "v1")).results;
    expect(first.authorityBoost).toBe(0);
  });
});

describe("the index", () => {
  it("follows captures that go, and takes again what could not be read", async () => {
    const url = "http://later.test/";
    await setup.importRecords([
      record(http("<title>Later</title><h1>Later</h1><p>A quagga stands in the meadow.</p>", HTML), { url }),
    ]);
    await setup.sql`delete from documents where url = ${url}`;
    const objects = { get: () => Promise.reject(new Error("the bucket is away")) };
    expect(await indexSnapshots({ ...setup.dependencies, objects }, () => true)).toEqual({ snapshots: 0, failed: 1 });
    await setup.sql`update snapshots_due set not_before = now()`;
    expect(await indexSnapshots(setup.dependencies, () => true)).toEqual({ snapshots: 1, failed: 0 });
    expect((await search({ q: "quagga" })).total).toBe(1);
    await setup.sql`delete from captures where final_url = ${url}`;
    expect((await search({ q: "quagga" })).total).toBe(0);
  });
});

describe("of thousands", () => {
  const MANY = 5_000;
  let sql: Sql;

  beforeAll(async () => {
    // one connection, whose statistics are there when it says so
    sql = connectDatabase({ url: setup.databaseUrl, poolSize: 1 });
    const [like] = await sql<{ id: number }[]>`select capture_id as id from snapshot_index limit 1`;
    await sql`set session_replication_role = replica`;
    await sql`
      insert into snapshot_index (capture_id, page_hash, host, captured_at, status, title, snippet, language, title_key, snippet_key,
        url_key, fts, same_answer, depth, has_query, has_tracking, is_archived)
      select 1000000 + n, n, 'many.test', captured_at - n * interval '1 minute', 200, 'Crowd ' || n, 'Beginning ' || n, 'en',
        'crowd ' || n, 'beginning ' || n, 'http://many.test/' || n,
        setweight(to_tsvector('simple', case when n % 1000 = 7 then 'walrus' else 'crowd' end), 'A') || words,
        decode(md5(n::text), 'hex'), 1, false, false, false
      from snapshot_index, generate_series(1, ${MANY}) n,
        (select setweight(to_tsvector('simple', string_agg('w' || i, ' ') || ' walrus'), 'D') as words from generate_series(1, 600) i)
      where capture_id = ${like?.id ?? 0}`;
    await sql`vacuum analyze snapshot_index`;
  });
  afterAll(async () => {
    await sql`delete from snapshot_index where capture_id > 1000000`;
    await sql.end();
  });

  const find = (query: string, more: Partial<ArchiveSearch> = {}) =>
    searchArchive(sql, {
      query,
      sort: "relevance",
      view: "snapshots",
      includeNon2xx: false,
      includeDuplicates: false,
      limit: 20,
      offset: 0,
      ranking: "v2",
      ...more,
    });
  /** Blocks of vectors that lie outside their rows, and uses of an index, since the table was made. */
  const counts = async (index = "") => {
    await sql`select pg_stat_force_next_flush()`;
    await sql`select pg_stat_clear_snapshot()`;
    const [row] = await sql<{ blocks: number; uses: number }[]>`
      select (toast_blks_read + toast_blks_hit)::int as blocks,
        coalesce((select idx_scan from pg_stat_user_indexes where indexrelname = ${index})::int, 0) as uses
      from pg_statio_user_tables where relname = 'snapshot_index'`;
    return row as { blocks: number; uses: number };
  };
  const blocksOf = async (work: () => Promise<unknown>): Promise<number> => {
    const { blocks } = await counts();
    await work();
    return (await counts()).blocks - blocks;
  };

  it("the best are ranked by their texts, and all are counted and listed once", async () => {
    const all = await blocksOf(() => sql`select sum(length(fts)) from snapshot_index`);
    const ranked = await blocksOf(async () => {
      const { total, results } = await find("walrus");
      expect(total).toBe(MANY);
      expect(results.slice(0, 5).map(({ id }) => id % 1000)).toEqual([7, 7, 7, 7, 7]);
    });
    expect(ranked).toBeGreaterThan(0);
    expect(ranked).toBeLessThan(all / 2);
    const pages = await Promise.all(
      [0, 1000, 1990, 4000, 4990].map((offset) => find("walrus", { offset, limit: 100 })),
    );
    const ids = pages.flatMap(({ results }) => results.map(({ id }) => id));
    expect([ids.length, new Set(ids).size]).toEqual([410, 410]);
    expect((await find("walrus", { offset: MANY })).results).toEqual([]);
  });

  it("none but those of one page of results are read where the newest come first", async () => {
    const all = await blocksOf(() => sql`select sum(length(fts)) from snapshot_index`);
    const read = await blocksOf(async () => expect((await find("walrus", { sort: "newest" })).total).toBe(MANY));
    expect(read).toBeLessThan(all / 20);
  });

  it.each(["title", "snippet", "url"])("%s: is found by an index", async (field) => {
    const index = `snapshot_index_${field}_key`;
    const before = await counts(index);
    const { total } = await find(`${field}:4321`);
    expect(total).toBe(1);
    expect((await counts(index)).uses).toBeGreaterThan(before.uses);
  });
});
