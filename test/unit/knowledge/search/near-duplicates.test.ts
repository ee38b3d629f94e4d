import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { firstSimilar, SIMILAR } from "../../../../shared/knowledge/search/near-duplicates.ts";

const PASSAGE =
  "The tide table of the harbour is printed each spring. It lists high and low water for every day of the year, " +
  "with the height in metres above chart datum, and notes the days on which the lock stays closed.";
const OTHER = "A lighthouse keeper writes the log each evening, and winds the clockwork that turns the lens at night.";

const indexes = (texts: string[]) => firstSimilar(texts).map((similar) => similar?.index ?? null);

describe("near-duplicates", () => {
  test.each([
    ["the same", PASSAGE],
    ["capitals, accents and punctuation apart", PASSAGE.toUpperCase().replaceAll(".", " – ").replace("TIDE", "TÍDE")],
    ["another word", PASSAGE.replace("spring", "autumn")],
    ["another date at the end", `${PASSAGE} Printed on 3 May 2026.`],
    ["two other words", PASSAGE.replace("spring", "autumn").replace("metres", "feet")],
  ])("%s is found", (_name, text) => {
    expect(indexes([PASSAGE, OTHER, text])).toEqual([null, null, 0]);
  });

  test.each([
    ["another passage", OTHER],
    ["the same words in another order", PASSAGE.split(" ").toReversed().join(" ")],
    ["half of it", PASSAGE.slice(0, PASSAGE.length / 2)],
    ["nothing", ""],
  ])("%s is none", (_name, text) => {
    expect(indexes([PASSAGE, text])).toEqual([null, null]);
  });

  test("of languages without spaces are found by their characters", () => {
    const text = "港の潮汐表は毎年春に印刷されます。満潮と干潮の時刻が毎日記載されています。";
    expect(
      indexes([text, text.replace("春", "秋"), "灯台守は毎晩日誌をつけ、夜にレンズを回す時計仕掛けを巻きます。"]),
    ).toEqual([null, 0, null]);
  });

  test("short texts are the same or not", () => {
    expect(indexes(["Tide", "tide", "ebb tide", "Ebb tide", "!", "?"])).toEqual([null, 0, null, 2, null, 4]);
  });

  test("are measured as the share of what they have in common", () => {
    const shingles = (text: string) => {
      const words = text.split(" ");
      return new Set(words.slice(1).map((_, at) => words.slice(at, at + 2).join(" ")));
    };
    const text = fc
      .array(fc.constantFrom("a1", "b2", "c3"), { minLength: 2, maxLength: 9 })
      .map((all) => all.join(" "));
    fc.assert(
      fc.property(text, text, (a, b) => {
        const [one, two] = [shingles(a), shingles(b)];
        const shared = [...one].filter((shingle) => two.has(shingle)).length;
        const similarity = shared / new Set([...one, ...two]).size;
        expect(firstSimilar([a, b])[1]?.similarity ?? null).toBe(similarity >= SIMILAR ? similarity : null);
      }),
    );
  });

  test("200 passages of 500 words are compared soon, alike or not", () => {
    const words = (seed: number) => Array.from({ length: 500 }, (_, at) => `w${(at * 7 + seed) % 997}`).join(" ");
    const same = Array.from({ length: 200 }, () => words(0));
    expect(indexes(same).filter((index) => index === 0)).toHaveLength(199);
    const different = Array.from({ length: 200 }, (_, at) => words(at * 500).replaceAll("w", `x${at}w`));
    expect(indexes(different).filter((index) => index !== null)).toEqual([]);
  });
});
