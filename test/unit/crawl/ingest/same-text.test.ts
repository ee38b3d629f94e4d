import { expect, test } from "vitest";
import type { Capture } from "../../../../shared/capture/capture.ts";
import { textKey } from "../../../../shared/crawl/ingest/same-text.ts";

const PROSE = "The lighthouse stands on the northern cape, and its lamp is lit at dusk by those who keep the island. ";

const keyOf = (text: string, url = "https://example.org/", title = "A page"): string | null =>
  textKey({
    error: null,
    finalUrl: url,
    fetchedAt: "2026-05-01T12:00:00.000Z",
    extraction: { text, title } as Capture["extraction"],
  });

test.each([
  ["how long it took", "Served in 34 ms.", "Served in 1204.5 ms."],
  ["seconds", "Generated in 0.013 seconds", "Generated in 12 s"],
  ["the time of day", "It is 12:04:59 now.", "It is 3:10:00 now."],
  ["a token", "Session 8f14e45fceea167a5a36dedd4bea2543.", "Session c9f0f895fb98ab9159f51fd0297e236d."],
  ["a short token", "Request 3fa94c1e.", "Request 0b77d2c9."],
  ["a token in base64", "csrf q8J/xU+0Lk2Zr9aB4cD7eF==", "csrf Zp1/aQ+7Yt6Wn3sK8mR5vX=="],
  ["the time of the answer", "Made at 2026-05-01T11:59:58.120Z.", "Made at 2026-05-01T12:00:31+00:00."],
  ["its time in a zone that is not named", "Made at 2026-05-01 14:00:01.", "Made at 2026-05-01 14:02."],
  ["its Unix time", "Made at 1777636790.", "Made at 1777636812345."],
  ["a UUID", "Ask for 018f6f5e-7b9a-7c2d-8e3f-1a2b3c4d5e6f", "Ask for 01907a11-0c4e-7b0e-9a53-77a1b2c3d4e5"],
])("pages that differ in %s alone have one main text", (_, one, other) => {
  expect(keyOf(PROSE + one)).toBe(keyOf(PROSE + other));
});

test("a page that says its own address is the page that says another", () => {
  const at = (path: string) => keyOf(`${PROSE}You are at ${path}.`, `https://example.org${path}`);
  expect(at("/a/b?c=1")).toBe(at("/a/b/c/d?e=2"));
});

test("a page that says its own address in a link to somewhere else is the page that says another", () => {
  const at = (path: string) =>
    keyOf(`${PROSE}/login?to=${encodeURIComponent(`https://example.org${path}`)}`, `https://example.org${path}`);
  expect(at("/a/b?c=1")).toBe(at("/a/b/c/d?e=2"));
});

test.each([
  ["times that are not the answer's", "It begins at 2026-06-01T10:30:00Z.", "It begins at 2026-06-02T10:30:00Z."],
  ["numbers of ten digits", "Call 1512345678.", "Call 1512345679."],
  ["paths", "See /harbour/north/pier-12/berths", "See /harbour/north/pier-13/berths"],
  ["paths with capitals", "See /Harbour/North/Pier-12/Berths", "See /Harbour/North/Pier-13/Berths"],
  ["models", "The WH1000XM4 is for sale.", "The WH1000XM5 is for sale."],
  ["decades", "Those of the 1890s came by boat.", "Those of the 1900s came by boat."],
  ["numbers", "Room 12 has 4 beds.", "Room 13 has 2 beds."],
  ["dates", "Open on 2024-05-01.", "Open on 2024-05-02."],
  ["long words", "Donaudampfschifffahrtsgesellschaft", "Donaudampfschifffahrtskapitän"],
  ["the hour of an event", "It begins at 10:30.", "It begins at 11:30."],
  ["prices", "It costs 34 euros.", "It costs 35 euros."],
])("pages that differ in %s have texts of their own", (_, one, other) => {
  expect(keyOf(PROSE + one)).not.toBe(keyOf(PROSE + other));
});

test("of a short text the title tells", () => {
  expect(keyOf("Gallery", undefined, "One")).not.toBe(keyOf("Gallery", undefined, "Two"));
  expect(keyOf(" ")).toBeNull();
});

test("a text of nothing but digits and letters takes no time", () => {
  const started = process.cpuUsage();
  keyOf("1/".repeat(500_000));
  keyOf(`${"a1".repeat(500_000)} ${"-".repeat(500_000)} ${"1".repeat(500_000)}`);
  expect(process.cpuUsage(started).user / 1000).toBeLessThan(1_000);
});
