import { expect, test } from "vitest";
import { extractPage } from "../../../../shared/extract/extract-page.ts";

const url = "https://a.example/";
const anchorsOf = (body: string) => extractPage(`<body>${body}</body>`, { url, anchors: true });

test("each link has the first text that an anchor gives it, in the order of the links", () => {
  const { links, anchors } = anchorsOf(`
    <a href="/a"><img src="a.png" alt="A picture"></a> <a href="/b">  The <b>second</b>
    link </a> <a href="/a#part">Again</a> <a href="mailto:x@y.z">Mail</a> <a href="/c" title="Titled"></a>
    <a href="/d" aria-label="Labelled"><svg></svg></a> <a href="/e"></a> <a href="/e">Late</a> <map><area href="/f" alt="Area"></map>`);
  expect(links?.map((link, at) => [new URL(link).pathname, anchors?.[at]])).toEqual([
    ["/a", "A picture"],
    ["/b", "The second link"],
    ["/c", "Titled"],
    ["/d", "Labelled"],
    ["/e", "Late"],
    ["/f", "Area"],
  ]);
});

test("the text of an anchor that holds a whole page is cut", () => {
  const { anchors } = anchorsOf(`<a href="/a">${"<p>word</p>".repeat(10_000)}</a>`);
  expect(anchors?.[0]?.length).toBeLessThanOrEqual(200);
});

test("anchors are left out where nobody asks for them", () => {
  expect(extractPage(`<a href="/a">A</a>`, { url })).not.toHaveProperty("anchors");
});
