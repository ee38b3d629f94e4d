import { describe, expect, it } from "vitest";
import { extractFields } from "../../../../shared/extract/fields/extract-fields.ts";
import { extractionSchema } from "../../../../shared/extract/fields/field-schema.ts";

const url = "https://shop.example/chairs/";
const PAGE = `<html><body><h1>Oak   <i>chairs</i></h1>
  <ul>
    <li class="item" data-id="1"><a href="oak-1"><b>Low</b> chair</a><span class="price">€ 120</span>
      <img src="/i/1.png"><em>new</em><em>oiled</em></li>
    <li class="item" data-id="2"><a href="https://else.example/2">High chair</a>
      <span class="price">€ 90</span></li>
  </ul>
  <table><tr><th>Height</th><td>90 cm</td></tr></table>
  <div class="note" onclick="x()"><p>Ask <a href="/us">us</a>.</p><script>steal()</script></div></body></html>`;
const extract = (fields: object, html = PAGE, maxChars = 100_000) =>
  extractFields(html, url, extractionSchema.parse({ fields }), maxChars);

describe("fields of a page", () => {
  it("are null for an attribute that the element does not have, whatever objects have of that name", () => {
    expect(
      extract({
        proto: { selector: "h1", type: "attribute", attribute: "__proto__" },
        made: { selector: "h1", type: "attribute", attribute: "constructor" },
      }),
    ).toEqual({ proto: null, made: null });
  });

  it("are texts, attributes and HTML; null where nothing matches", () => {
    expect(
      extract({
        title: { selector: "h1" },
        image: { selector: ".item img", type: "attribute", attribute: "src" },
        id: { selector: ".item", type: "attribute", attribute: "DATA-ID" },
        note: { selector: ".note", type: "html" },
        missing: { selector: ".none" },
        unnamed: { selector: "h1", type: "attribute", attribute: "title" },
      }),
    ).toEqual({
      title: "Oak chairs",
      image: "https://shop.example/i/1.png",
      id: "1",
      note: '<p>Ask <a href="https://shop.example/us">us</a>.</p>',
      missing: null,
      unnamed: null,
    });
  });

  it("come from what a page does not show as text, too: its title, frames, media, scripts", () => {
    const html = `<html><head><title>Oak &amp; ash</title><script src="/a.js"></script></head><body><div class="top">Watch
      <iframe src="/film"></iframe><video poster="p.png"><source src="v.mp4"><a href="/fallback">No video</a></video>
      <svg viewBox="0 0 1 1"><title>Icon</title></svg><object data="o.pdf">No PDF</object></div></body></html>`;
    const attribute = (selector: string, name: string) => ({ selector, type: "attribute", attribute: name });
    const fields = {
      title: { selector: "head > title" },
      film: attribute("iframe", "src"),
      video: attribute("video > source", "src"),
      poster: attribute("video", "poster"),
      script: attribute("script", "src"),
      drawing: attribute("svg", "viewbox"),
      text: { selector: ".top" },
      html: { selector: ".top", type: "html" },
    };
    expect(extract(fields, html)).toEqual({
      title: "Oak & ash",
      film: "https://shop.example/film",
      video: "https://shop.example/chairs/v.mp4",
      poster: "https://shop.example/chairs/p.png",
      script: "https://shop.example/a.js",
      drawing: "0 0 1 1",
      text: "Watch",
      html: "<p>Watch</p>",
    });
  });

  it("are counted as browsers count, scripts and styles among the children", () => {
    const html = "<body><div><script>a()</script><p>One<style>p{}</style><p>Two</p></div></body>";
    expect(
      extract({ second: { selector: "div > :nth-child(2)" }, last: { selector: "p:nth-child(3)" } }, html),
    ).toEqual({
      second: "One",
      last: "Two",
    });
  });

  it("are lists, and objects within lists that begin at their own element", () => {
    expect(
      extract({
        prices: { selector: ".price", multiple: true },
        none: { selector: ".none", multiple: true },
        items: {
          selector: "li.item",
          type: "nested",
          multiple: true,
          fields: {
            id: { type: "attribute", attribute: "data-id" },
            name: { selector: "a" },
            link: { selector: "a", type: "attribute", attribute: "href" },
            tags: { selector: "em", multiple: true },
          },
        },
      }),
    ).toEqual({
      prices: ["€ 120", "€ 90"],
      none: [],
      items: [
        { id: "1", name: "Low chair", link: "https://shop.example/chairs/oak-1", tags: ["new", "oiled"] },
        { id: "2", name: "High chair", link: "https://else.example/2", tags: [] },
      ],
    });
  });

  it("are found where a browser's own copy of a selector points", () => {
    expect(extract({ height: { selector: "body > table > tbody > tr:nth-child(1) > td" } })).toEqual({
      height: "90 cm",
    });
  });

  it("have names that mean nothing to the language of the program", () => {
    const found = extract({ constructor: { selector: "h1" }, ["__proto__"]: { selector: ".none" } });
    expect(JSON.stringify(found)).toContain('"constructor":"Oak chairs"');
  });

  it("that are more than an answer may hold are refused", () => {
    const fields = { all: { selector: "p", multiple: true } };
    expect(() => extract(fields, `<p>${"word ".repeat(50)}`.repeat(10), 1_000)).toThrow(/more than 1000 characters/);
  });
});

describe("a schema", () => {
  const nested = (levels: number): object =>
    levels === 0 ? { selector: "a" } : { selector: "b", type: "nested", fields: { below: nested(levels - 1) } };

  it.each([
    [{}, "hold no field"],
    [{ a: { selector: "p::before" } }, "::before"],
    [{ a: { selector: "p", type: "attribute" } }, "attribute"],
    [{ a: { selector: "p", attribute: "href" } }, "attribute"],
    [{ a: { selector: "p", type: "nested" } }, "nested"],
    [{ a: { selector: "p", fields: { b: { selector: "i" } } } }, "nested"],
    [{ a: { selector: "p", kind: "text" } }, "kind"],
    [{ a: { multiple: true } }, "several times"],
    [{ a: nested(5) }, "5 levels deep"],
    [Object.fromEntries(Array.from({ length: 201 }, (_, n) => [`f${n}`, { selector: "p" }])), "201 fields"],
  ])("%j is refused", (fields, why) => {
    const { error } = extractionSchema.safeParse({ fields });
    expect(JSON.stringify(error?.issues)).toContain(why);
  });

  it("may go some levels deep", () =>
    expect(extractionSchema.safeParse({ fields: { a: nested(4) } }).success).toBe(true));
});
