import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseQuery } from "../../../../shared/knowledge/search/query-syntax.ts";

describe("a query", () => {
  test.each([
    ["blue whales", { words: ["blue", "whales"], phrases: [], excluded: [], text: "blue whales" }],
    ['"blue whale" song', { words: ["song"], phrases: ["blue whale"], excluded: [], text: "blue whale song" }],
    ["whale -harpoon", { words: ["whale"], phrases: [], excluded: ["harpoon"], text: "whale" }],
    ['whale -"harpoon gun"', { words: ["whale"], phrases: [], excluded: ["harpoon gun"], text: "whale" }],
    ["state-of-the-art", { words: ["state-of-the-art"], phrases: [], excluded: [], text: "state-of-the-art" }],
    ["a - b", { words: ["a", "b"], phrases: [], excluded: [], text: "a b" }],
    [
      'unclosed "blue whale',
      { words: ["unclosed"], phrases: ["blue whale"], excluded: [], text: "unclosed blue whale" },
    ],
    ["-only -this", { words: [], phrases: [], excluded: ["only", "this"], text: "" }],
    [
      "git commit --amend",
      { words: ["git", "commit", "--amend"], phrases: [], excluded: [], text: "git commit --amend" },
    ],
    ["ls -- -5 --x ->z", { words: ["ls", "--x", "->z"], phrases: [], excluded: ["5"], text: "ls --x ->z" }],
    [
      "user -/etc/passwd -.env -~/.ssh -@types/node -$HOME -_id -../up",
      {
        words: ["user"],
        phrases: [],
        excluded: ["/etc/passwd", ".env", "~/.ssh", "@types/node", "$HOME", "_id", "../up"],
        text: "user",
      },
    ],
    ["a -/ -... -._. b", { words: ["a", "b"], phrases: [], excluded: [], text: "a b" }],
    ["-apples\n-pears", { words: ["-apples", "-pears"], phrases: [], excluded: [], text: "-apples -pears" }],
    ["Buy:\n  -figs -dates", { words: ["Buy:", "-figs"], phrases: [], excluded: ["dates"], text: "Buy: -figs" }],
    ["“blue whale” song", { words: ["song"], phrases: ["blue whale"], excluded: [], text: "blue whale song" }],
    ["Lied „Der Wal“", { words: ["Lied"], phrases: ["Der Wal"], excluded: [], text: "Lied Der Wal" }],
    ["« la mer » -»das Meer«", { words: [], phrases: ["la mer"], excluded: ["das Meer"], text: "la mer" }],
    ["whale -“harpoon gun”", { words: ["whale"], phrases: [], excluded: ["harpoon gun"], text: "whale" }],
    ['?! "" -- "…"', { words: [], phrases: [], excluded: [], text: "" }],
  ])("%s", (query, parsed) => {
    expect(parseQuery(query)).toEqual(parsed);
  });

  test("of more than twenty words quotes nothing, so that a pasted paragraph finds what is like it", () => {
    const words = Array.from({ length: 20 }, (_, at) => `word${at}`);
    expect(parseQuery(`${words.join(" ")} "blue whale"`)).toMatchObject({ words, phrases: ["blue whale"] });
    const pasted = parseQuery(`He “sang” to the "blue whale" -harpoon ${words.join(" ")}`);
    expect(pasted).toMatchObject({ phrases: [], excluded: ["harpoon"] });
    expect(pasted.words).toEqual(["He", "sang", "to", "the", "blue whale", ...words]);
    expect(parseQuery(`「鲸」 “蓝鲸” ${"我们在海上看见了一头鲸，".repeat(5)}`).phrases).toEqual([]);
  });

  test("that is one long quotation asks for all of it", () => {
    const quotation = Array.from({ length: 40 }, (_, at) => `word${at}`).join(" ");
    expect(parseQuery(`"${quotation}"`)).toMatchObject({ words: [], phrases: [quotation] });
  });

  test("of any text gives parts that PostgreSQL can hold", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 1000 }), (query) => {
        const { words, phrases, excluded, text } = parseQuery(query);
        for (const part of [...words, ...phrases, ...excluded, text]) {
          expect(part.isWellFormed()).toBe(true);
          expect(part).not.toContain("\0");
        }
      }),
    );
  });
});
