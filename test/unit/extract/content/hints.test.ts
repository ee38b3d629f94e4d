import { describe, expect, it } from "vitest";
import { extractPage } from "../../../../shared/extract/extract-page.ts";

const text = (body: string): string =>
  extractPage(`<html lang="en"><head><title>T</title></head><body>${body}</body></html>`, {
    url: "https://example.org/a",
  }).text;

const TOPICS = ["moorings", "fees", "water", "fuel", "repairs"];
const prose = (topic: string): string =>
  `The office keeps a list of the ${topic}, which is open to everybody, and it is renewed each year in March. Ask there first.`;
const NAVIGATION = `<div class="menu"><a href="/">Harbour</a> <a href="/fees">Fees</a> <a href="/map">Map</a></div>`;

describe("a word in a class or id decides nothing by itself", () => {
  it.each([
    ["elementor-element elementor-widget elementor-widget-text-editor"],
    ["widget widget_sow-editor panel-first-child"],
    ["so-panel widget"],
    ["teaser"],
    ["promo-box"],
    ["menu-item"],
    ["social-services"],
    ["related-topic"],
    ["html-tags-reference"],
    ["content-with-sidebar"],
    ["share-section"],
    ["skip-lists"],
    ["et_pb_module et_pb_text cta"],
    ["print-friendly sponsors"],
  ])("where all sections of a page stand in boxes named %j", (names) => {
    const section = (topic: string): string => `<div class="${names}"><h2>On ${topic}</h2><p>${prose(topic)}</p></div>`;
    const found = text(`${NAVIGATION}<div><h1>Visiting</h1>${TOPICS.map(section).join("")}</div>`);
    for (const topic of TOPICS) expect(found).toContain(`On ${topic}\n\n${prose(topic)}`);
    expect(found).not.toContain("Map");
  });

  it("where a builder puts each heading in a box of its own", () => {
    const widget = (kind: string, inner: string): string =>
      `<div class="elementor-widget elementor-widget-${kind}"><div class="elementor-widget-container">${inner}</div></div>`;
    const section = (topic: string): string =>
      `<section>${widget("heading", `<h2>On ${topic}</h2>`)}${widget("text-editor", `<p>${prose(topic)}</p>`)}</section>`;
    const found = text(
      `${NAVIGATION}<div>${widget("heading", "<h1>Visiting</h1>")}${TOPICS.map(section).join("")}</div>`,
    );
    for (const topic of TOPICS) expect(found).toContain(`On ${topic}\n\n${prose(topic)}`);
  });

  it("where half of an article is behind it", () => {
    const plain = (topic: string): string => `<p>${prose(topic)} ${prose("pumps")}</p>`;
    const marked = (topic: string): string => `<p class="paywall">${prose(topic)}</p>`;
    const found = text(`<div>${TOPICS.map(plain).join("")}</div><div>${TOPICS.map(marked).join("")}</div>`);
    for (const topic of TOPICS) expect(found.split(prose(topic))).toHaveLength(3);
  });

  it("where ids of headings and sections are made of their titles", () => {
    const section = (id: string, topic: string): string =>
      `<section id="${id}"><h2 id="${id}-heading">On ${topic}</h2><p>${prose(topic)}</p></section>`;
    const found = text(
      `<div>${section("start", "ropes")}${section("sharing-a-mooring", "moorings")}${section("tags-of-boats", "tags")}
       ${section("advert", "x")}${section("promotion-of-officers", "officers")}${section("end", "lamps")}</div>`,
    );
    for (const topic of ["moorings", "tags", "officers", "lamps"]) expect(found).toContain(`On ${topic}\n\n`);
  });

  it.each([["container layout-right-sidebar"], ["page-with-newsletter"], ["breadcrumb-before"]])(
    "where the headline and the text below it stand in a box named %j",
    (names) => {
      const links = Array.from({ length: 20 }, (_, at) => `<li><a href="/${at}">Another story with a title</a></li>`);
      const imprint = `<p>The society of the harbour, founded in the year of the flood, prints what it hears.</p>`;
      const article = `<article><h1>On fees</h1><p>${prose("fees")}</p><p>${prose("fuel")}</p></article>`;
      const found = text(
        `<div class="${names}">${article}<ul>${links.join("")}</ul></div><div class="about">${imprint}${imprint}</div>`,
      );
      expect(found).toContain(`${prose("fees")}\n\n${prose("fuel")}`);
    },
  );

  it("where a word amid a line has a tooltip", () => {
    const word = `<abbr class="term has-tooltip">HRB<span aria-hidden="true">Harbour</span></abbr>`;
    const found = text(`<h1>Fees</h1>${TOPICS.map((topic) => `<p>The ${word} says: ${prose(topic)}</p>`).join("")}`);
    for (const topic of TOPICS) expect(found).toContain(`The HRB says: ${prose(topic)}`);
  });

  it("where all posts of a thread are called comments", () => {
    const post = (topic: string): string => `<div class="comment"><b>Ada</b><p>${prose(topic)}</p></div>`;
    const found = text(`${NAVIGATION}<h1>Thread</h1><div class="comments">${TOPICS.map(post).join("")}</div>`);
    for (const topic of TOPICS) expect(found).toContain(prose(topic));
  });
});

describe("names that links, place or plain words bear out are believed", () => {
  const article = `<div class="story"><h1>Harbour</h1>${TOPICS.map((topic) => `<p>${prose(topic)}</p>`).join("")}</div>`;
  it.each([
    ["widget", `<a href="/a">First story of the day</a> <a href="/b">Second story of the day</a>`],
    ["m-privacy-consent", `<p>We use cookies, and other ways to follow you, wherever you go. Accept them, please.</p>`],
    [
      "article-body__newsletter",
      `<p>Get the news of the harbour, delivered each morning, before the boats go out.</p>`,
    ],
    [
      "xy-sidebar-column",
      `<p>The weather stays fair, and the wind is from the west, says the keeper of the light.</p>`,
    ],
    ["related-posts", `<p>Another story, which is about something else, and which you may want to read as well.</p>`],
    ["social", `<a href="/f">Follow us there</a>`],
    ["comment-list", `<p>I went there, and I did not like it at all. The queue was long, and the tea was cold.</p>`],
  ])("as that of a box named %j beside an article", (names, inner) => {
    const found = text(`<div>${article}<div class="${names}">${inner}</div></div>`);
    for (const topic of TOPICS) expect(found).toContain(prose(topic));
    expect(found.endsWith(prose("repairs"))).toBe(true);
  });

  it("as that of a footer whose imprint is longer than the text", () => {
    const imprint = TOPICS.map((topic) => `<p>${prose(`owners of ${topic}`)}</p>`).join("");
    const short = `<article><h1>Fees</h1><p>${prose("fees")}</p><p>${prose("fuel")}</p></article>`;
    const found = text(`<div>${NAVIGATION}${short}<footer id="footer"><div>${imprint}</div></footer></div>`);
    expect(found).toContain(prose("fuel"));
    expect(found).not.toContain("owners of");
  });
});
