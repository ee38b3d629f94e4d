import { expect, it } from "vitest";
import { readUpload, type UploadedText } from "../../../shared/library/read-upload.ts";

const read = (content: string, more: Partial<UploadedText> = {}) =>
  readUpload({ content, ...more }, "upload://x/", { timeoutMs: 20_000, memoryMb: 256 });

it.each([
  ["HTML by its start", "<!DOCTYPE html><title>T</title><h1>A</h1><p>b <b>c</b>", {}, "b c"],
  ["HTML by its name", "<h1>A</h1><p>b <b>c</b>", { filename: "a.html" }, "b c"],
  [
    "HTML that is called Markdown",
    "<html><body><p>b <b>c</b></p></body></html>",
    { contentType: "text/markdown" },
    "b c",
  ],
  ["text that is called HTML", "a < b, and b > c", { contentType: "text/html; charset=utf-8" }, "a < b, and b > c"],
  ["Markdown by its lines", "# A\n\nb **c**", {}, "b c"],
  ["Markdown by its name", "b **c**", { filename: "README.md" }, "b c"],
  ["plain text by its name", "# A\n\nb **c**", { filename: "a.txt" }, "b **c**"],
  ["plain text", "b **c** d", {}, "b **c** d"],
  ["Markdown with HTML in it", "# A\n\n<div>b <b>c</b></div>", {}, "b c"],
])("reads %s", async (_, content, more, text) => {
  expect((await read(content, more)).text).toContain(text);
});

it("takes the title from what is said, the front matter, the page, the first heading", async () => {
  const front = '---\ntitle: "Of tides"\ntags: [a]\n---\n# A\n\nb';
  expect((await read(front, { title: "Said" })).title).toBe("Said");
  expect(await read(front)).toMatchObject({ title: "Of tides", text: expect.not.stringContaining("tags") });
  expect((await read("<!doctype html><title>T</title><p>b")).title).toBe("T");
  expect((await read("# A\n\nb")).title).toBe("A");
  expect((await read("---\n\nNo front matter\n")).title).toBe("---");
});

it("keeps the structure of Markdown", async () => {
  const { sections, blocks, markdown } = await read(
    "# A\n\n## B\n\n```js\n# c\n```\n\n| d | e |\n|---|---|\n| 1 | 2 |\n",
  );
  expect(sections.map(({ heading, level }) => [heading, level])).toEqual([
    ["A", 1],
    ["B", 2],
  ]);
  expect(blocks.map(({ kind }) => kind)).toEqual(expect.arrayContaining(["code", "table"]));
  expect(markdown).toContain("```js\n# c\n```");
});

it.each([
  ["%PDF-1.7\n", "UNSUPPORTED_TYPE"],
  ["PK\u0003\u0004word/document.xml", "UNSUPPORTED_TYPE"],
  ["a\0b", "UNSUPPORTED_TYPE"],
  [" \n ", "NO_TEXT"],
  ["<!-- nothing -->", "NO_TEXT"],
])("refuses %j", async (content, code) => {
  await expect(read(content)).rejects.toThrow(expect.objectContaining({ code }));
});

it("runs nothing of an upload, and follows none of its links", async () => {
  const { markdown, robots } = await read(
    "# A\n\n<script>alert(1)</script>\n\n[b](javascript:alert(1)) <img src=x onerror=y>",
  );
  expect(markdown).not.toMatch(/script|alert|onerror/i);
  expect(robots.nofollow).toBe(true);
});
