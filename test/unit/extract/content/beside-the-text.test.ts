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

describe("a last line that says whose a text or a picture is", () => {
  const last = (line: string): string =>
    text(`<article><h1>Festival</h1>${TEXT.slice(0, 3).join("")}<p>${line}</p></article>`);
  it.each([
    "Quelle: ntv.de, ada/dpa",
    "<em>Fuente: Agencia EFE</em>",
    "Foto: Ada Strand / Reuters",
    "Фото: РИА Новости",
    "来源：新华社",
    "Source: AFP",
    "<strong>Kaynak:</strong> AA",
  ])("goes: %s", (line) => expect(last(line)).toMatch(/the organisers said\.$/));

  it.each([
    "Info: www.harbour.example",
    "Tickets: 030 1234",
    "Eintritt: 5 Euro",
    "Ort: Rathaus",
    "Sources of joy: all",
  ])("stays where it is a fact: %s", (line) => expect(last(line)).toContain(line));

  it("stays amid the text", () => {
    const found = text(`<article>${TEXT[0]}<p>Source: AFP</p>${TEXT[1]}</article>`);
    expect(found).toContain("Source: AFP");
  });
});

describe("a headline in a box of its own", () => {
  const TITLE = "Boats to let by the hour | Harbour";
  const page = (head: string, between = ""): string =>
    text(
      `<div class="wrap"><div class="top"><div class="box"><div class="inner">${head}</div></div>${between}</div>
       <div class="row"><div class="col"><div class="text">${TEXT.join("")}</div></div></div></div>`,
      TITLE,
    );

  it.each(["h1", "h2"])("is kept where the page is no report: %s", (name) => {
    expect(page(`<${name}>Boats to let by the hour</${name}>`)).toMatch(/^Boats to let by the hour\n\nThe festival/);
  });

  it("is a title where the page is a report, with a date", () => {
    const head = "<h1>Boats to let by the hour</h1>";
    expect(page(head, `<div><div>October 12, 2017</div></div>`)).toMatch(/^The festival/);
    expect(page(head, `<time>yesterday</time>`)).toMatch(/^The festival/);
    expect(page(`<meta property="og:type" content="article">${head}`)).toMatch(/^The festival/);
  });

  it("is not the name of the site", () => {
    expect(page("<h1>Harbour of the town</h1>")).toMatch(/^The festival/);
  });
});

describe("short sentences", () => {
  it("are kept between the headline and a longer one, wherever that stands", () => {
    const head = "<h1>Festival</h1><p>All is new.</p><h2>Gates</h2><p>There are two.</p>";
    const found = text(`<article>${head}<div>${TEXT[0]}</div>${TEXT.slice(1).join("")}</article>`);
    expect(found).toContain("Festival\n\nAll is new.\n\nGates\n\nThere are two.\n\nThe festival");
  });

  it("are no byline", () => {
    const head = "<h1>Festival</h1><p>By Ada Strand</p><p>5 May 2024, 10:30</p>";
    const found = text(`<article>${head}<div>${TEXT[0]}</div>${TEXT.slice(1).join("")}</article>`);
    expect(found).toContain("Festival\n\nThe festival");
  });
});

describe("an address below a text", () => {
  const below = (last: string): string =>
    text(`<main><article><h1>Festival</h1>${TEXT.slice(0, 3).join("")}</article>${last}</main>`);

  it("is kept with its heading, links to write and to call included", () => {
    const contact = `<div class="box"><h2>Contact</h2><p>Harbour office<br>West pier 3<br><a href="tel:01">01234 567</a></p><p><a href="mailto:a@b.example">a@b.example</a></p></div>`;
    expect(below(contact)).toMatch(/Contact\s+Harbour office\nWest pier 3\n01234 567\s+a@b\.example$/);
  });

  it("is no call to write", () => {
    const call = `<div><p>Tell us more at <a href="mailto:a@b.example">a@b.example</a>.</p></div>`;
    expect(below(call)).not.toContain("Tell us");
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

describe("facts between a headline and a text that others wrote", () => {
  const review = (buyer: number): string =>
    `<div class="review"><h4>Buyer ${buyer}</h4><span>★★★★☆</span><p>I have had this kettle for ${buyer} months, and it
    boils quickly, keeps the heat, and pours without a drip. The handle stays cool, and the lid closes firmly. I would
    buy it again, even at the full price.</p></div>`;
  const reviews = [2, 3, 4, 5, 6, 7, 8, 9].map(review).join("");
  const kettle = (body: string): string =>
    extractPage(
      `<html lang="en"><head><title>Aurora Kettle | Shop</title></head><body>
      <header><nav><a href="/">Home</a></nav></header>${body}<footer><a href="/imprint">Imprint</a></footer></body></html>`,
      { url: "https://shop.example/kettle" },
    ).text;
  const table = `<table><tr><th>Capacity</th><td>1.7 l</td></tr><tr><th>Power</th><td>2200 W</td></tr></table>`;
  const list = "<dl><dt>Capacity</dt><dd>1.7 l</dd><dt>Power</dt><dd>2200 W</dd></dl>";
  const points = "<ul><li>Capacity 1.7 l</li><li>Power 2200 W</li></ul>";

  it.each([
    [
      "a table",
      `<main><div><div><h1>Aurora Kettle</h1><div>$49.90</div>${table}</div></div><div>${reviews}</div></main>`,
    ],
    [
      "a list of terms",
      `<div><section><h1>Aurora Kettle</h1><span>$49.90</span>${list}</section><div>${reviews}</div></div>`,
    ],
    [
      "a list of points",
      `<div><div><h1>Aurora Kettle</h1><p>49,90 €</p>${points}</div><div><div>${reviews}</div></div></div>`,
    ],
    [
      "lines beside a price",
      `<div><div><div><h1>Aurora Kettle</h1></div><div><p>£49.90</p><div><p>1.7 l</p><p>2200 W</p></div></div></div>
      <div><div>${reviews}</div></div></div>`,
    ],
    [
      "a table in a box of its own",
      `<article><header><h1>Aurora Kettle</h1><div>49.90 CHF</div></header><div>${table}</div><div>${reviews}</div></article>`,
    ],
    [
      "a section behind a description",
      `<main><div><h1>Aurora Kettle</h1><p>$49.90</p></div><div><h2>Description</h2><p>The Aurora boils a litre in two
      minutes, keeps the heat for an hour, and switches off by itself.</p></div>
      <div><h2>Specifications</h2>${table}</div><div>${reviews}</div></main>`,
    ],
    [
      "reviews that are a list of comments",
      `<div><div><h1>Aurora Kettle</h1><p>$49.90</p>${table}</div><div id="comments"><ol class="commentlist">
      <li>${reviews}</li></ol></div></div>`,
    ],
  ])("stay with the headline: %s", (_, body) => {
    const found = kettle(body);
    expect(found.startsWith("Aurora Kettle")).toBe(true);
    expect(found).toMatch(/49[.,]90[\s\S]*1\.7 l[\s\S]*2200 W[\s\S]*for 9 months/);
    expect(found).not.toContain("Imprint");
  });

  it.each([
    ["a byline as a list", "<ul><li>Ann Lee</li><li>12 May 2024, 10:30</li></ul>"],
    ["a byline as terms", "<dl><dt>Written by</dt><dd>Ann Lee</dd><dt>Published</dt><dd>12.05.2024</dd></dl>"],
    ["ways to share", `<ul class="share"><li>Mail</li><li>Print</li></ul>`],
    [
      "links to other things",
      `<ul><li><a href="/b">Boreas Kettle</a> $20</li><li><a href="/c">Toaster</a> $30</li></ul>`,
    ],
  ])("are not made of %s", (_, line) => {
    const found = kettle(`<div><div><h1>Aurora Kettle</h1>${line}</div><div><div>${reviews}</div></div></div>`);
    expect(found).not.toMatch(/Ann Lee|Mail|Print|Boreas|Toaster|May 2024|12\.05/);
  });

  it("are not what stands before the headline", () => {
    const found = kettle(`<div><div>${table}</div><h1>Aurora Kettle</h1><div><div>${reviews}</div></div></div>`);
    expect(found).not.toContain("2200 W");
  });
});
