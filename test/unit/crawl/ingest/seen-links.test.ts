import { expect, test } from "vitest";
import { rememberLinks, seenLinks } from "../../../../shared/crawl/ingest/seen-links.ts";

const links = (count: number, length: number) =>
  Array.from({ length: count }, (_, at) => `https://a.example/${String(at).padStart(length, "x")}`);

test("seen links are known for their own job only", () => {
  rememberLinks("one", ["https://a.example/a"]);
  expect(seenLinks("one").has("https://a.example/a")).toBe(true);
  expect(seenLinks("another").size).toBe(0);
});

test("the links of a job take a bounded amount of memory", () => {
  rememberLinks("endless", links(5_000, 1_900));
  rememberLinks("endless", links(5_000, 1_901));
  expect(seenLinks("endless").size).toBeLessThan(1_200);
});

test("the job that went on longest ago is forgotten first", () => {
  rememberLinks("first", ["https://a.example/"]);
  rememberLinks("second", ["https://a.example/"]);
  for (let at = 0; at < 6; at++) rememberLinks(`other ${at}`, ["https://a.example/"]);
  rememberLinks("first", ["https://a.example/b"]);
  rememberLinks("last", ["https://a.example/"]);
  expect(seenLinks("first").size).toBe(2);
  expect(seenLinks("second").size).toBe(0);
});
