import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  dateTemplate,
  MAX_PARAMETERS,
  queryShape,
  undatedText,
  urlTrap,
} from "../../../../shared/crawl/urls/trap-patterns.ts";

const at = (path: string): URL => new URL(path, "http://a.example/");
const query = (names: number): string => `?${Array.from({ length: names }, (_, name) => `p${name}=1`).join("&")}`;

describe("a path", () => {
  test.each([
    "/x/x/x/x",
    "/a/b/a/b/a/b",
    "/shop/a/b/c/a/b/c/a/b/c/end",
    "/products/list/products/list/products/list/",
    "/a/1/a/2/a/3/a/4/a/5",
    "/1/1/1/1/1/",
    `/${Array.from({ length: 26 }, (_, segment) => `s${segment}`).join("/")}`,
  ])("%s is a trap", (path) => expect(urlTrap(at(path))).toBe("TRAP_PATH"));

  test.each([
    "/",
    "/a/b/a/b",
    "/2011/11/11/eleven",
    "/11/11/11/",
    "/wiki/Buffalo/Buffalo",
    "/en/docs/en/api/en/v1/en",
    "/docs/a/docs/b/docs/c",
    "//a//b//c",
    `/${Array.from({ length: 25 }, (_, segment) => `s${segment}`).join("/")}`,
  ])("%s is none", (path) => expect(urlTrap(at(path))).toBeNull());

  test("that repeats any sequence three times is a trap, wherever it stands", () => {
    const word = fc.stringMatching(/^[a-z]{1,4}$/);
    const sequence = fc.array(word, { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(
        fc.array(word, { maxLength: 3 }),
        sequence,
        fc.array(word, { maxLength: 3 }),
        (before, unit, after) => {
          const path = [...before, ...unit, ...unit, ...unit, ...after].join("/");
          expect(urlTrap(at(`/${path}`))).toBe("TRAP_PATH");
        },
      ),
    );
  });

  test("all of whose segments differ is none, up to the limit", () => {
    const segments = fc.uniqueArray(fc.stringMatching(/^[a-z0-9]{1,5}$/), { maxLength: 25 });
    fc.assert(
      fc.property(segments, (segments) => {
        expect(urlTrap(at(`/${segments.join("/")}`))).toBeNull();
      }),
    );
  });
});

test("more parameters than anyone means are a trap", () => {
  expect(urlTrap(at(query(MAX_PARAMETERS)))).toBeNull();
  expect(urlTrap(at(query(MAX_PARAMETERS + 1)))).toBe("TRAP_QUERY");
});

test("queries of one shape have the same parameters, in whatever order", () => {
  expect(queryShape(at("/a?x=1&y=2"))).toEqual(queryShape(at("/a?y=3&x=4")));
  expect(queryShape(at("/a?x=1&x=2"))).not.toEqual(queryShape(at("/a?x=1")));
  expect(queryShape(at("/b?x=1"))).not.toEqual(queryShape(at("/a?x=1")));
  expect(queryShape(at("/a"))).toBeNull();
});

describe("a page that is named by nothing but a date", () => {
  test.each([
    ["/calendar/2024/05", "/calendar/1999/12"],
    ["/calendar/2024/05/17/", "/calendar/12024/01/02/"],
    ["/events/2024-05-17", "/events/2025-01-01"],
    ["/events/20240517", "/events/20250101"],
    ["/cal?month=5&year=2024", "/cal?month=12&year=1"],
    ["/cal?view=day&date=2024-05-17", "/cal?view=day&date=2030-01-01"],
    ["/cal/2024/05/index.html", "/cal/2023/06/index.html"],
  ])("%s has the template of %s", (one, other) => {
    expect(dateTemplate(at(one))).not.toBeNull();
    expect(dateTemplate(at(one))).toBe(dateTemplate(at(other)));
  });

  test.each([
    ["/calendar/2024/05", "/calendar/2024/05/17"],
    ["/calendar/2024/05", "/kalender/2024/05"],
    ["/cal?view=day&date=2024-05-17", "/cal?view=week&date=2024-05-17"],
  ])("%s has another template than %s", (one, other) =>
    expect(dateTemplate(at(one))).not.toBe(dateTemplate(at(other))),
  );

  test.each(["/2024/05/17/a-story", "/page/2024", "/item/123456", "/?d=5", "/index.php?id=2024", "/a/b", "/v1/2"])(
    "%s has none",
    (path) => expect(dateTemplate(at(path))).toBeNull(),
  );
});

test("a text without its dates is the same on every day, in the language of the page", () => {
  const day = (language: string, index: number): string => {
    const date = new Intl.DateTimeFormat(language, { dateStyle: "full", timeZone: "UTC" });
    return undatedText(`${date.format(Date.UTC(2024, 0, 1 + index * 9))} — (0)`, language);
  };
  for (const language of ["en", "de", "fr", "es", "ru"]) {
    expect(new Set(Array.from({ length: 60 }, (_, index) => day(language, index))).size, language).toBe(1);
  }
  expect(undatedText("May concert", "en")).not.toBe(undatedText("May market", "en"));
});
