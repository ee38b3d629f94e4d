import { posix } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { objectPath } from "../../../../local/aws/fauxqs-state.ts";

test("a plain key is its own path", () => {
  expect(objectPath("warcs/2026/01/a b-ü.warc.gz")).toBe("warcs/2026/01/a b-ü.warc.gz");
});

test("no key climbs out of its folder", () => {
  const segment = fc.oneof(fc.constantFrom("..", ".", "", "%", "a"), fc.string());
  fc.assert(
    fc.property(fc.array(segment, { minLength: 1 }), (segments) => {
      const joined = posix.join("/base", `${objectPath(segments.join("/"))}%.data`);
      expect(joined.startsWith("/base/")).toBe(true);
      expect(joined).not.toContain("\0");
    }),
  );
});

test("different keys have different paths, and no file lies where another key needs a folder", () => {
  const key = fc.array(fc.constantFrom("a", "..", "%", "%2E", "a%.data", "", "a.data", "?", "%3F"), {
    minLength: 1,
    maxLength: 3,
  });
  fc.assert(
    fc.property(key, key, (one, other) => {
      fc.pre(one.join("/") !== other.join("/"));
      const [first, second] = [one, other].map((each) => `${objectPath(each.join("/"))}%.data`);
      expect(first).not.toBe(second);
      expect(second?.startsWith(`${first}/`)).toBe(false);
    }),
  );
});

test("a segment too long for a file name is shortened and stays its own", () => {
  const [one, other] = ["a", "b"].map((last) => objectPath(`dir/${"ü".repeat(500)}${last}`));
  expect(one).not.toBe(other);
  for (const name of one?.split("/") ?? []) expect(Buffer.byteLength(`${name}%.meta.json`)).toBeLessThan(256);
});
