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

describe("prose among the paragraphs of a small page is one of them", () => {
  const AROUND = ["moorings", "fees", "water"].map((topic) => `<p>${prose(topic)}</p>`);
  const NAMES = ["promo-text", "footer-note", "newsletter-archive", "ad", "share-story", "about-author", "sidebar"];
  const at = (part: string, place: number): string =>
    text(`<h1>Harbour</h1>${AROUND.toSpliced(place, 0, part).join("")}`);

  it.each([...NAMES, "comments", "cookie-jar", "site-nav", "tagcloud", "byline"])(
    "whatever %j says of it amid them",
    (names) => {
      const parts = [
        `<p class="${names}">${prose("lamps")}</p>`,
        `<p id="${names}">${prose("lamps")}</p>`,
        `<blockquote class="${names}">${prose("lamps")}</blockquote><blockquote>${prose("ropes")}</blockquote>`,
        `<div class="${names}"><p>${prose("lamps")}</p></div>`,
        `<div class="${names}"><h2>Lamps</h2><p>${prose("lamps")}</p><p>${prose("oil")}</p></div>`,
        `<ul class="${names}"><li>${prose("lamps")}</li><li>${prose("oil")}</li></ul>`,
      ];
      for (const part of parts) for (const place of [1, 2]) expect(at(part, place)).toContain(prose("lamps"));
    },
  );

  it.each(NAMES)("as the first and the last paragraph, too: %j", (names) => {
    for (const place of [0, 3])
      expect(at(`<p class="${names}">${prose("lamps")}</p>`, place)).toContain(prose("lamps"));
  });

  it.each(["footer-note", "newsletter-archive", "promo-of-the-month", "related-history"])(
    "as a box at either end whose name has a topic: %j",
    (names) => {
      const box = `<div class="${names}"><p>${prose("lamps")}</p></div>`;
      for (const place of [0, 3]) expect(at(box, place)).toContain(prose("lamps"));
    },
  );

  it("as one of several sections", () => {
    const section = (names: string, topic: string): string =>
      `<section class="${names}"><h2>On ${topic}</h2><p>${prose(topic)}</p></section>`;
    const found = text(`<main><h1>Harbour</h1>${section("a", "fees")}${section("newsletter-archive", "lamps")}</main>`);
    expect(found).toContain(prose("lamps"));
  });

  it.each([
    ["a link", `<p class="promo-text">Read the harbour's coffee book, which is out <a href="/b">in the shop</a>.</p>`],
    ["a button", `<div class="newsletter-box"><p>${prose("coffee")}</p><button>Go</button></div>`],
    ["a copyright line", `<p class="copyright">© The coffee harbour, and those who wrote it, all rights reserved.</p>`],
    [
      "the caption of a picture",
      `<img src="/a.png"><p class="caption">The harbour on a morning, with coffee in hand.</p>`,
    ],
    [
      "no sentence",
      `<p class="byline">By Ada Coffee, Bert Brecht, Charles Darwin and Dora Maar, of the harbour press</p>`,
    ],
    ["a notice at an end", `<p class="cookie-text">We use cookies with our coffee, and others do so as well.</p>`],
    ["comments at an end", `<p class="comments">I was there, and the coffee was cold, as it is every year.</p>`],
    ["an imprint", `<div class="footer"><p>The coffee harbour is a society of those who like both of them.</p></div>`],
  ])("but furniture where it is %s", (_, part) => {
    expect(at(part, 3)).not.toContain("coffee");
    expect(at(part, 3)).toContain(prose("water"));
  });

  it("but not a box on a large page", () => {
    const large = Array.from({ length: 30 }, (_, index) => `<p>${prose(`gate ${index}`)}</p>`).join("");
    const found = text(`<h1>Harbour</h1>${large}<div class="promo"><p>${prose("coffee")}</p></div>${large}`);
    expect(found).not.toContain("coffee");
  });
});

describe("words of a sentence are part of it", () => {
  it.each(["share", "caption", "footer-note", "sidebar-link", "ad", "byline-name"])("also those named %j", (names) => {
    const found = text(
      `<h1>Fees</h1><p>${prose("fees")}</p><p>He was told <em class="${names}">nothing of it</em>, and <a class="${names}" href="/b">left the house</a> for good.</p>`,
    );
    expect(found).toContain("He was told nothing of it, and left the house for good.");
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

describe("an id that is a hint", () => {
  const IDS = ["cookies", "comments", "sidebar", "footer", "related", "newsletter", "share", "popup", "ads"];
  const heading = (id: string): string => (id[0] ?? "").toUpperCase() + id.slice(1);
  const chapter = (id: string, link = ""): string =>
    `<section id="${id}"><h2>${heading(id)}${link}</h2><p>Each of the ${id} has a name, and a place to be in.</p></section>`;
  const LONG = `<section id="sessions"><h2>Sessions</h2>${TOPICS.map((topic) => `<p>${prose(topic)}</p>`).join("")}</section>`;

  it.each([
    ["of documentation", (id: string) => `<section id="use"><h1>Use</h1>${chapter(id)}${LONG}</section>`],
    [
      "of documentation, whose headings link to themselves",
      (id: string) => `<div class="body">${chapter(id, `<a class="headerlink" href="#${id}">¶</a>`)}${LONG}</div>`,
    ],
    [
      "of a box",
      (id: string) => `<main>${chapter(id).replaceAll("section", "div")}${LONG.replaceAll("section", "div")}</main>`,
    ],
  ])("only says what its heading says: %s", (_, body) => {
    for (const id of IDS) expect(text(body(id))).toContain(`${heading(id)}\n\nEach of the ${id} has a name`);
  });

  it.each([
    ["comments", `<p>I was there, and the coffee was cold, as every year.</p>`],
    ["comments", `<div class="comment"><p>I was there, and the coffee was cold, as every year.</p></div>`],
    [
      "related",
      `<p>More on this coffee.</p><ul><li><a href="/a">The mill of the town</a></li><li><a href="/b">The bridge</a></li></ul>`,
    ],
    ["newsletter", `<p>Our coffee by mail, every week.</p><form><input type=email><button>Go</button></form>`],
    ["cookies", `<p>There is no coffee without cookies, you see.</p><button>Fine</button>`],
  ])("names furniture where it holds it: %s", (id, inner) => {
    const part = `<section id="${id}"><h2>${heading(id)}</h2>${inner}</section>`;
    expect(text(`<main><article><h1>Moorings</h1>${LONG}</article>${part}</main>`)).not.toContain("coffee");
  });
});

describe("boxes of page builders", () => {
  const widget = (kind: string, inner: string): string =>
    `<div class="elementor-widget elementor-widget-${kind}"><div class="elementor-widget-container">${inner}</div></div>`;
  const list = (...points: string[]): string =>
    `<ul class="elementor-icon-list-items">${points.map((point) => `<li class="elementor-icon-list-item">${point}</li>`).join("")}</ul>`;

  it("hold facts in a few words", () => {
    const hours = `${widget("heading", "<h2>Opening hours</h2>")}${widget("icon-list", list("Mon to Fri 9–17", "Sat 10–14"))}`;
    const address = list(
      `<a href="tel:+491">01234 567</a>`,
      `<a href="mailto:a@b.example">a@b.example</a>`,
      "West pier 3",
    );
    const contact = `${widget("heading", "<h2>Contact</h2>")}${widget("icon-list", address)}`;
    const lead = widget("text-editor", "<p>Coffee and cake by the sea, in the old boat house, since 1998.</p>");
    const sections = [`${widget("heading", "<h1>Café</h1>")}${lead}`, hours, contact];
    const found = text(
      `${NAVIGATION}<div>${sections.map((section) => `<section>${section}</section>`).join("")}</div>`,
    );
    expect(found).toBe(
      "Café\n\nCoffee and cake by the sea, in the old boat house, since 1998.\n\nOpening hours\n\nMon to Fri 9–17\nSat 10–14\n\nContact\n\n01234 567\na@b.example\nWest pier 3",
    );
  });

  it("may be a menu of dishes, which no navigation is", () => {
    const dish = (name: string, price: string): string =>
      `<div class="menu-item"><div class="menu-item-title">${name}</div><span class="menu-item-price">${price}</span></div>`;
    const menu = `<div class="menu"><div class="menu-section-title">Starters</div><div class="menu-items">${dish("Fish soup with bread", "$9")}${dish("Crab salad", "$12")}</div></div>`;
    const found = text(
      `${NAVIGATION}<article><h1>Menu</h1><p>Fresh from the boats, every day, as long as there is any.</p>${menu}</article>`,
    );
    expect(found).toMatch(/boats[\s\S]*Starters\s+Fish soup with bread\s+\$9\s+Crab salad\s+\$12/);
    expect(found).not.toContain("Map");
  });

  it("are furniture in the sidebar of a page whose headline stands elsewhere", () => {
    const found = text(
      `<div><div><h1>Moorings</h1>${TOPICS.map((topic) => `<p>${prose(topic)}</p>`).join("")}
       <div class="widget"><h3>Weather</h3><p><a href="/w">More rain at noon</a></p></div></div></div>`,
    );
    expect(found).not.toContain("More");
  });
});
