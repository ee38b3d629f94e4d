import { describe, expect, it } from "vitest";
import { extractPage } from "../../../../shared/extract/extract-page.ts";

const text = (body: string): string =>
  extractPage(`<html lang="en"><head><title>T</title></head>${body}</html>`, { url: "https://example.org/a" }).text;
const prose = (topic: string): string =>
  `The ${topic} was opened on Tuesday, after years of planning, and drew a crowd that nobody had expected, they said.`;
const p = (topic: string): string => `<p>${prose(topic)}</p>`;

describe("hidden text that a script shows later", () => {
  it.each([
    ["a body", (inner: string) => `<body style="display:none">${inner}</body>`],
    [
      "a wrapper that waits for its script",
      (inner: string) => `<body><div id="app" style="visibility: hidden">${inner}</div></body>`,
    ],
    [
      "a page behind an open dialog",
      (inner: string) =>
        `<body><div aria-hidden="true">${inner}</div><div role="dialog"><p>We use cookies, and ask you to agree.</p></div></body>`,
    ],
    [
      "a page that only <noscript> holds",
      (inner: string) => `<body><p>Loading</p><noscript>${inner}</noscript></body>`,
    ],
  ])("is the page where it is nearly all: %s", (_, page) => {
    const found = text(page(`<h1>Festival</h1>${p("festival")}${p("market")}`));
    expect(found).toContain(`Festival\n\n${prose("festival")}\n\n${prose("market")}`);
    expect(found).not.toMatch(/cookies|Loading/);
  });

  it.each([
    ["panels of tabs", `<div role="tabpanel" hidden>${p("market")}</div>`],
    [
      "answers that unfold",
      `<h3><button aria-expanded="false">Why?</button></h3><div class="accordion-body" style="display:none">${p("market")}</div>`,
    ],
    ["a region that its heading names", `<div role="region" aria-labelledby="b" hidden>${p("market")}</div>`],
    ["the rest of a shortened text", `<div class="read-more-content" style="display: none">${p("market")}</div>`],
    ["a paragraph among others", `<p style="display:none">${prose("market")}</p>`],
  ])("is read: %s", (_, hidden) => {
    expect(text(`<body><main>${p("festival")}${hidden}${p("museum")}${p("park")}</main></body>`)).toContain(
      prose("market"),
    );
  });

  it.each([
    ["a dialog", `<div role="dialog" hidden>${p("market")}</div>`],
    ["a consent notice", `<div class="cookie-panel" style="display:none">${p("market")}</div>`],
    ["a menu of links", `<div class="panel" hidden><p><a href="/a">${prose("market")}</a></p></div>`],
    ["a message", `<div role="alert" class="panel" hidden>${p("market")}</div>`],
    ["another article that is shown below it", `<div class="more" hidden><h1>Market</h1>${p("market")}</div>`],
    ["a script's warning", `<noscript><p>${prose("market")}</p></noscript>`],
  ])("stays hidden where it is %s", (_, hidden) => {
    const found = text(`<body><main>${p("festival")}${hidden}${p("museum")}${p("park")}</main></body>`);
    expect(found).toBe([prose("festival"), prose("museum"), prose("park")].join("\n\n"));
  });
});

describe("text of buttons", () => {
  it("is read where it is a question, a term or the head of a column, and is left out otherwise", () => {
    const found = text(
      `<body><main>${p("festival")}<h3><button aria-expanded=false>Where may I moor?</button></h3>${p("market")}
       <div class="accordion-header"><button>When is it open?</button></div>${p("museum")}
       <dl><dt><button>Fees</button></dt><dd>Nine crowns</dd></dl>
       <table><tr><th><button>Boat</button></th><th>Length</th></tr><tr><td>Petrel</td><td>9 m</td></tr></table>
       <button>Copy</button>${p("park")}</main></body>`,
    );
    for (const part of ["Where may I moor?", "When is it open?", "Fees", "Boat | Length"])
      expect(found).toContain(part);
    expect(found).not.toContain("Copy");
  });
});

describe("labels of an accordion", () => {
  const markdown = (body: string): string =>
    extractPage(`<html lang="en"><head><title>T</title></head><body>${body}</body></html>`, {
      url: "https://example.org/a",
    }).markdown;
  const fold = (label: string, inner: string, attributes = ""): string =>
    `<button aria-expanded="false"${attributes}>${label}</button>${inner}`;
  const around = (inner: string): string => `<main><h1>Festival</h1>${p("festival")}${p("market")}${inner}</main>`;

  it.each([
    ["beside their panels", (label: string, topic: string) => fold(label, `<div>${p(topic)}</div>`)],
    [
      "in boxes of their own, with panels that are hidden",
      (label: string, topic: string) =>
        `<div class="x"><div>${fold(label, "")}</div><div hidden>${p(topic)}</div></div>`,
    ],
    [
      "that name their panels",
      (label: string, topic: string) =>
        `<li>${fold(label, `<section id="p-${topic}">${p(topic)}</section>`, ` aria-controls="p-${topic}"`)}</li>`,
    ],
  ])("are headings of one level: %s", (_, item) => {
    const found = markdown(around(`<h2>Visit</h2><div>${item("Museum", "museum")}${item("The park", "park")}</div>`));
    expect(found).toMatch(/^## Visit$/m);
    for (const [label, topic] of [
      ["Museum", "museum"],
      ["The park", "park"],
    ] as const)
      expect(found).toMatch(new RegExp(`^(?:- )?### ${label}\\n\\n *${prose(topic)}$`, "m"));
  });

  it("are above the headings in their panels", () => {
    const items = [
      fold("Museum", `<div><h4>Hours</h4>${p("museum")}</div>`),
      fold("Park", `<div><h4>Gates</h4>${p("park")}</div>`),
    ];
    const found = markdown(around(items.join("")));
    expect(found.match(/^#+ .*$/gm)).toEqual(["# Festival", "## Museum", "#### Hours", "## Park", "#### Gates"]);
  });

  it.each([
    ["asks", fold("When does it open?", `<div>${p("museum")}</div>`)],
    ["is named so", `<div class="faq-item">${fold("The museum", `<div>${p("museum")}</div>`)}</div>`],
  ])("may be one alone, which %s", (_, item) => {
    expect(markdown(around(item))).toMatch(/^## (?:When does it open\?|The museum)\n\nThe museum was opened/m);
  });

  it.each([
    ["shows more of a text", fold("Read more coffee", `<div>${p("museum")}</div>`)],
    [
      "shows more of several texts",
      [1, 2].map(() => `${p("park")}${fold("More coffee", `<div>${p("museum")}</div>`)}`).join(""),
    ],
    [
      "opens a menu",
      fold("Coffee", "<ul><li><a href='/a'>All of our mills</a></li><li><a href='/b'>Locks</a></li></ul>") +
        fold("Coffee too", "<ul><li><a href='/c'>All of our ships</a></li></ul>"),
    ],
    [
      "stands in navigation",
      `<nav>${fold("Coffee?", `<div>${p("museum")}</div>`)}${fold("Tea?", `<div>${p("museum")}</div>`)}</nav>`,
    ],
    ["opens a list to choose from", fold("Coffee or tea?", `<div>${p("museum")}</div>`, ' aria-haspopup="listbox"')],
  ])("are none where a button %s", (_, item) => {
    expect(markdown(around(item + p("end")))).not.toMatch(/coffee/i);
  });
});
