import { describe, expect, it } from "vitest";
import { extractPage } from "../../../../shared/extract/extract-page.ts";

const extract = (body: string, title = "The mill works again"): string =>
  extractPage(`<html><head><title>${title}</title></head><body>${body}</body></html>`, {
    url: "https://example.org/news/1",
  }).text;
const TEXT = ["mill", "lock", "bridge", "weir", "sluice"]
  .map((topic) => `<p>The ${topic} at the river was repaired by volunteers, over three summers, and works again.</p>`)
  .join("");
const FIRST = "The mill at the river was repaired by volunteers, over three summers, and works again.";
const END = "The sluice at the river was repaired by volunteers, over three summers, and works again.";
const article = (after: string, before = "", title?: string): string =>
  extract(`<main><article><h1>The mill works again</h1>${before}${TEXT}${after}</article></main>`, title);

describe("a note of the site at the end of a text", () => {
  const NOTE = "All data are without guarantee. We are not liable for what others do with them.";
  it.each([
    ["in slanted letters", `<p><em>${NOTE}</em></p>`],
    ["in small letters", `<p><small>The views expressed here are not those of this paper or its editors.</small></p>`],
    ["in a box with its name", `<div class="disclaimer"><p>${NOTE}</p></div>`],
    ["with its name", `<p class="article-disclaimer">${NOTE}</p>`],
    ["behind a label", `<p><strong>Disclaimer:</strong> ${NOTE}</p>`],
    ["behind a label of another language", "<p><b>Haftungsausschluss:</b> Alle Angaben ohne Gewähr, wie immer.</p>"],
    ["below a rule", "<hr><p>This does not replace the advice of a doctor: no text can be a substitute for that.</p>"],
    ["below a heading of its own", `<h4>Disclaimer</h4><p>${NOTE}</p>`],
    ["behind a mark", "<p>* Links marked so are affiliate links: if you buy, we get a part of what you pay.</p>"],
    ["in Russian", "<p><em>Мнение автора может не совпадать с позицией редакции, за слова отвечает он сам.</em></p>"],
    ["in Chinese", "<p><em>免责声明：本文仅供参考，不构成任何投资建议，投资者据此操作，风险自担。</em></p>"],
    ["in French", "<p><i>Ces données sont fournies à titre indicatif, et ne remplacent pas un avis médical.</i></p>"],
    [
      "several of them",
      `<p><em>${NOTE}</em></p><p><small>We may earn a commission from links, and you pay no more.</small></p>`,
    ],
  ])("goes by its shape: %s", (_, note) => {
    const found = article(note);
    expect(found.startsWith("The mill works again")).toBe(true);
    expect(found.endsWith(END)).toBe(true);
  });

  it("goes at the beginning, too", () => {
    const found = article(
      "",
      "<p class='note'><em>We may earn a commission if you buy through links here, at times.</em></p>",
    );
    expect(found).not.toContain("commission");
    expect(found).toContain(FIRST);
  });

  it.each([
    [
      "without such a shape",
      "<p>The builders are liable for what breaks, and paid without guarantee of any gain.</p>",
      "builders",
    ],
    [
      "whatever its shape, on something else",
      "<p><em>And the river, she said, goes on and on, as ever.</em></p>",
      "goes on",
    ],
    [
      "that says whose text it is",
      "<p><em>© 2024 Press of Strand. All rights reserved, of pictures as well.</em></p>",
      "Strand",
    ],
  ])("stays: %s", (_, note, word) => expect(article(note)).toContain(word));

  it("is the content of its own page, and a section among others", () => {
    const page = `<p><strong>Disclaimer:</strong> ${NOTE}</p>`;
    expect(article(page, "", "Disclaimer and terms")).toContain("without guarantee");
    const use = "<h2>Use</h2><p>Whoever uses the mill says so at the desk, before nine.</p>";
    const sections = `${use}<h2>Disclaimer</h2><p>${NOTE}</p>`;
    expect(article(sections)).toContain("Disclaimer\n\nAll data");
    expect(extract(`<main><h1>The mill works again</h1><p><em>${NOTE}</em></p></main>`)).toContain("without guarantee");
  });
});

describe("a call to follow the site or to install its app", () => {
  const a = (href: string, text: string): string => `<a href="https://${href}">${text}</a>`;
  const PLAY = a("play.google.com/store/apps/details?id=x", "Google Play");
  const STORES = `${a("apps.apple.com/app/id1", "App Store")} or ${PLAY}`;
  const PROFILES = `${a("twitter.com/strand", "Twitter")} and ${a("www.facebook.com/strand/", "Facebook")}`;

  it.each([
    ["an app", `<p>Install our app from ${STORES}.</p>`],
    ["pages elsewhere", `<p>Follow us on ${PROFILES}.</p>`],
    [
      "pages elsewhere, in Russian",
      `<p>Читайте нас в ${a("t.me/strand", "Telegram")} и во ${a("vk.com/strand", "ВКонтакте")}</p>`,
    ],
  ])("goes amid a text and at its end: %s", (_, call) => {
    expect(article(call).endsWith(END)).toBe(true);
    const amid = article(`${call}<p>The last sentence of the text says that the boats are back, and so on.</p>`);
    expect(amid).toContain("boats are back");
    expect(amid).not.toMatch(/Install|Follow|Читайте/);
  });

  it.each([
    `<p>She wrote it on ${a("twitter.com/ada/status/1", "X")} and ${a("facebook.com/ada/posts/2", "F")}, twice.</p>`,
    `<p>Rent on ${a("play.google.com/store/movies/1", "Google Play")}, ${a("www.youtube.com/watch?v=1", "YouTube")}.</p>`,
    `<p>Get the app from ${STORES}, open it, sign in with the address that the office has of you, and wait.</p>`,
  ])("is no sentence on what stands elsewhere: %s", (sentence) => {
    expect(article(sentence)).toMatch(/twice|Rent on|sign in with/);
  });
});

it("what asks readers for mistakes goes, with its question, and so do bare addresses", () => {
  const box =
    "<div><h4>Found a mistake?</h4><p>Select the text and press Ctrl+Enter, and we get to know of it.</p></div>";
  expect(article(`${box}<p>Facebook https://fb.me/strand</p><p>https://twitter.com/strand</p>`).endsWith(END)).toBe(
    true,
  );
  const keys =
    "<h2>Undo</h2><p>Press Ctrl+Enter to send it.</p><h2>Redo</h2><p>Press it again, as often as it takes.</p>";
  expect(article(`${keys}${TEXT}${TEXT}`)).toContain("Press Ctrl+Enter");
});

describe("a line that says whose a picture is", () => {
  const IMG = '<img src="/a.jpg">';
  const MORE = "<p>The last sentence of the text says that the boats are back, and so on.</p>";
  it.each([
    ["names and agencies", `<div><div>${IMG}</div><div>Ada Strand/Getty Images</div></div>`, "Getty"],
    ["an agency", `<p>${IMG}</p><p>Ada Strand | dpa</p>`, "dpa"],
    ["a sign", `<div>${IMG}<div>© Ada Strand</div></div>`, "Strand"],
    ["a label", `<p>${IMG}</p><p>Foto: Ada Strand</p>`, "Strand"],
    ["in its own paragraph", `<p>${IMG}<br><em>A boat that is nobody's. Image: Ada Strand</em></p>`, "nobody"],
  ])("goes amid a text: %s", (_, picture, word) => {
    const found = article(picture + MORE);
    expect(found).toContain("boats are back");
    expect(found).not.toContain(word);
  });

  it.each([
    ["what a picture shows", `<p>${IMG}<em>A boat that is nobody's, in spring.</em></p>`, "nobody"],
    ["a sentence below a picture", `<p>${IMG}</p><p>It was either/or, they said. Both were lost.</p>`, "either/or"],
    ["names that stand below no picture", "<p>Ada Strand / Reuters</p>", "Reuters"],
    ["a fact", `<p>${IMG}</p><p>Open: 8–12 Uhr</p>`, "8–12"],
  ])("is not %s", (_, line, word) => expect(article(line + MORE)).toContain(word));
});
