import { glob, readFile, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";

const ROOT = join(import.meta.dirname, "../../..");

/** `file → target` of each relative link and image of a Markdown text; code is left out. */
function relativeLinks(markdown: string): string[] {
  const prose = markdown.replace(/^(```|~~~)[\s\S]*?^\1/gm, "").replace(/`[^`\n]*`/g, "");
  const targets = [...prose.matchAll(/\]\(\s*<?([^)\s>]+)>?[^)]*\)/g), ...prose.matchAll(/^\[[^\]]+\]:\s*(\S+)/gm)];
  return targets.map((match) => match[1] ?? "").filter((target) => !/^([a-z][a-z0-9+.-]*:|#)/i.test(target));
}

/** Anchors as GitHub makes them of headings. */
function anchors(markdown: string): Set<string> {
  const prose = markdown.replace(/^(```|~~~)[\s\S]*?^\1/gm, "");
  const headings = [...prose.matchAll(/^#{1,6}\s+(.*)$/gm)].map((match) => match[1] ?? "");
  return new Set(
    headings.map((text) =>
      text
        .toLowerCase()
        .replace(/[^\p{L}\p{N}\s_-]/gu, "")
        .trim()
        .replace(/\s/g, "-"),
    ),
  );
}

async function brokenLinks(file: string, markdown: string): Promise<string[]> {
  const broken: string[] = [];
  for (const target of relativeLinks(markdown)) {
    const [path = "", anchor] = target.split("#", 2);
    const found = join(ROOT, dirname(file), decodeURIComponent(path));
    const there = await stat(found).catch(() => undefined);
    if (there === undefined) broken.push(`${file} → ${target}`);
    else if (anchor && found.endsWith(".md") && !anchors(await readFile(found, "utf8")).has(anchor)) {
      broken.push(`${file} → ${target}: no such heading`);
    }
  }
  return broken;
}

test("every relative link of the README and the docs leads to a file, and to a heading where it names one", async () => {
  const files = ["README.md"];
  for await (const file of glob("docs/**/*.md", { cwd: ROOT })) files.push(file);
  const broken: string[] = [];
  let links = 0;
  for (const file of files) {
    const markdown = await readFile(join(ROOT, file), "utf8");
    links += relativeLinks(markdown).length;
    broken.push(...(await brokenLinks(file, markdown)));
  }
  expect(links).toBeGreaterThan(5);
  expect(broken).toEqual([]);
});

test("a link that leads nowhere is found, and code and other sites are not taken for one", async () => {
  const markdown =
    "[a](docs/nowhere.md) [b](README.md#nowhere) [c](https://example.org/x) `[d](no.md)`\n\n[e]: no/e.md\n";
  expect(await brokenLinks("README.md", markdown)).toEqual([
    "README.md → docs/nowhere.md",
    "README.md → README.md#nowhere: no such heading",
    "README.md → no/e.md",
  ]);
});
