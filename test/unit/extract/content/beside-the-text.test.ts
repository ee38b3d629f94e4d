import { describe, expect, it } from "vitest";
import { extractPage } from "../../../../shared/extract/extract-page.ts";

const text = (body: string, title = "T"): string =>
  extractPage(`<html lang="en"><head><title>${title}</title></head><body>${body}</body></html>`, {
    url: "https://example.org/news/1",
  }).text;
const p = (topic: string): string =>
  `<p>The ${topic} was opened on Tuesday, after years of planning, and drew a crowd that nobody had expected, the organisers said.</p>`;
const TEXT = ["festival", "market", "museum", "park", "bridge", "library", "tower"].map(p);

describe("leads", () => {
  const LEAD = "Years late and twice as dear, the festival has begun, and nobody speaks of the bill any more.";
  it.each([
    ["in a header of its own", `<header><h1>Festival opens</h1><p>${LEAD}</p><span>May 5, 2024</span></header>`],
    ["below a title that is no h1", `<div class="top"><h2>Festival opens</h2><div><p>${LEAD}</p></div></div>`],
    [
      "before the byline",
      `<div><h1>Festival opens</h1></div><div><div>${LEAD}</div><p class="byline">By Ada</p></div>`,
    ],
  ])("are kept where they stand %s", (_, head) => {
    const found = text(
      `<div class="page"><div><nav><a href="/">Home</a></nav></div>${head}<div class="body">${TEXT.join("")}</div></div>`,
      "Festival opens | Example News",
    );
    expect(found).toContain(`${LEAD}\n\nThe festival was opened`);
    expect(found).not.toMatch(/Home|By Ada|2024/);
  });

  it("are no dates, pictures, sharing or other stories", () => {
    const found = text(
      `<div class="page"><h1>Festival opens</h1><p>PUBLISHED: 10:48, Tue, Nov 19, 2019 | UPDATED: 11:05, Tue, Nov 19, 2019</p>
       <figure><img src="a.jpg"><p>The mayor, left, opens the festival, as the keeper looks on, on Tuesday morning.</p></figure>
       <div class="related"><p>The other festival, which was opened last year, and which nobody remembers today.</p></div>
       <div><div class="body">${TEXT.join("")}</div></div></div>`,
      "Festival opens | Example News",
    );
    expect(found.startsWith("The festival was opened")).toBe(true);
  });

  it.each(["h2", "h3"])("may be a subtitle in an %s", (name) => {
    const header = `<header><h1>Festival</h1><${name}>Why it had to be so dear</${name}></header>`;
    expect(text(`<article>${header}<div>${TEXT.join("")}</div></article>`)).toContain(
      "Festival\n\nWhy it had to be so dear\n\nThe festival",
    );
  });

  it("may be a few words below the headline, which no byline is", () => {
    const article = (line: string): string =>
      text(`<article><header><h1>Festival</h1><p>${line}</p></header><div>${TEXT.join("")}</div></article>`);
    expect(article("Dear since the spring storms")).toContain("Dear since the spring storms");
    expect(article("By Ada Strand and Ben Quay")).not.toContain("Ada");
    expect(article("Updated on 5 May 2024 at noon")).not.toContain("noon");
  });
});

describe("what leads away from a text", () => {
  const amid = (inserted: string): string =>
    text(`<article>${TEXT[0]}${TEXT[1]}${inserted}${TEXT[2]}${TEXT[3]}</article>`);
  const plain = amid("");
  it.each([
    ["a paragraph that is a link", `<p><a href="/x">Another festival that you may want to read of</a></p>`],
    [
      "a label in any language with links below",
      `<p><strong>Διαβάστε επίσης</strong></p><p><a href="/x">Το φεστιβάλ που άνοιξε</a></p>`,
    ],
    ["a label with a colon", `<p>Lesen Sie dazu:</p><p><a href="/x">Das andere Fest, das niemand sah</a></p>`],
    ["a link in brackets", `<p>[<a href="/x">Read why another festival did not open</a>]</p>`],
    [
      "a box of links",
      `<div><b>Mehr</b> <a href="/x">Das andere Fest der Stadt</a> <a href="/y">Und noch ein Fest am Hafen</a></div>`,
    ],
  ])("goes: %s", (_, inserted) => expect(amid(inserted)).toBe(plain));

  it.each([
    [
      "a sentence that was made a link",
      `<p><a href="/x">The mayor had promised that it would cost nothing, and he kept his word.</a></p>`,
    ],
    [
      "a list that a sentence announces",
      `<p>The festival takes place in these towns:</p><ul><li><a href="/a">Bergen</a></li><li><a href="/b">Bodø</a></li></ul>`,
    ],
    [
      "an announced list in a box",
      `<p>The festival takes place in these towns: <br></p><div><ul><li><a href="/a">Bergen</a></li><li><a href="/b">Bodø</a></li></ul></div>`,
    ],
    [
      "a list that a bare text announces",
      `<div>The festival takes place in these towns:<ul><li><a href="/a">Bergen</a></li><li><a href="/b">Bodø</a></li></ul></div>`,
    ],
    ["a list below a heading amid the paragraphs", `<h2>Sources</h2><ol><li><a href="/a">Diary of 1911</a></li></ol>`],
    ["a heading with text below", `<h2>Prices</h2><p>Nine crowns.</p>`],
    ["a heading without links below", "<h2>Part two</h2>"],
  ])("does not go: %s", (_, inserted) => {
    const wanted = inserted.match(/[^<>]{4,}(?=<\/(?:a|p|h2))/g) ?? [];
    expect(wanted.length).toBeGreaterThan(0);
    for (const part of wanted) expect(amid(inserted)).toContain(part);
  });

  it("goes with the heading that it leaves bare at the end", () => {
    const links = `<ul><li><a href="/a">A story of something else</a></li><li><a href="/b">One more story</a></li></ul>`;
    expect(text(`<article>${TEXT.join("")}<h3>Siehe auch</h3>${links}</article>`)).not.toContain("Siehe auch");
  });

  it("includes the page's own address, printed below it", () => {
    const page = (address: string): string =>
      extractPage(
        `<head><link rel=canonical href="https://example.org/news/1"></head><article>${TEXT.join("")}<p>${address}</p></article>`,
        { url: "https://example.org/news/1" },
      ).text;
    expect(page("https://example.org/news/1")).not.toContain("https://");
    expect(page("https://example.com/source")).toContain("https://example.com/source");
  });
});

describe("short ends", () => {
  it("stay where they are sections or sentences, and go where they are buttons or links", () => {
    const end = (tail: string): string =>
      text(`<main><article><section>${TEXT.join("")}</section>${tail}</article></main>`);
    const hours =
      "<section><h2>Opening hours</h2><p>Daily, nine to five</p></section><section><h2>Tickets</h2><p>Nine crowns</p></section>";
    expect(end(hours)).toContain("Opening hours\n\nDaily, nine to five\n\nTickets\n\nNine crowns");
    expect(text(`<article>${TEXT.join("")}<div><p>Eat it hot.</p></div></article>`)).toContain("Eat it hot.");
    expect(end("<div><span>Print</span></div><div><h4>Next</h4><a href=/n>The next story</a></div>")).toMatch(
      /said\.$/,
    );
  });
});

describe("what repeats", () => {
  const REFRAIN = "Haul the rope and hold it, the tide is turning soon, haul the rope and hold it, beneath the moon.";
  it("stays as refrain, as step and as answer below a heading of its own", () => {
    const count = (body: string): number => text(`<main>${body}</main>`).split(REFRAIN).length - 1;
    expect(count(`<div>${TEXT[0]}<p>${REFRAIN}</p>${TEXT[1]}<p>${REFRAIN}</p>${TEXT[2]}<p>${REFRAIN}</p></div>`)).toBe(
      3,
    );
    expect(count(`${TEXT[0]}<ol><li>${REFRAIN}</li><li>${TEXT[1]}</li></ol><ol><li>${REFRAIN}</li></ol>`)).toBe(2);
    const answer = (question: string): string => `<section><h3>${question}?</h3><p>${REFRAIN}</p></section>`;
    expect(count(`${TEXT[0]}${answer("May I moor here")}${answer("May I bring a dog")}`)).toBe(2);
  });

  it("goes where a page holds it for a second screen", () => {
    const found = text(`<main><div>${TEXT.join("")}</div><div class="wide"><div>${TEXT[1]}</div></div></main>`);
    expect(found.split("The market was opened")).toHaveLength(2);
  });
});
