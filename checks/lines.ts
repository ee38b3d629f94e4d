/**
 * `npm run check:lines`: no line is longer than 120 columns, and each tag of a doc comment begins a line. The formatter
 * sees to code; this sees to what it leaves as it is: comments and texts. Exits with 1 for a line that is too long or a
 * tag within a line.
 *
 * A longer line passes where breaking it would change what it says: a regular expression, a text without blanks (a
 * URL), the lines of a template that is tagged or spans lines (SQL, scripts, HTML), a comment that tools read; and in
 * tests the texts of test data and the titles of tests, which the formatter keeps on the line of their call.
 */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { parseSync, Visitor } from "oxc-parser";
import { sourceFiles } from "./imports.ts";

const COLUMNS = 120;
/** Folders whose texts are test data. */
const TESTS = /^(test|bench)\//;
const TEST_TITLE = /^\s*(?:test|it|describe)\(["`]/;
const DIRECTIVE = /^\s*(?:biome-ignore|@ts-expect-error)\b/;
/** Within a line, after words or a sentence; a name in backticks or a scope such as `@aws-sdk` is none. */
const INNER_TAG = /^\s*\*?\s*[^\s*].*\s@(?:param|returns|throws|example)\b/;

export interface LineFault {
  file: string;
  line: number;
  what: "too long" | "tag within a line";
}

interface Span {
  start: number;
  end: number;
  /** The line may be as long as it has to. */
  unbreakable: boolean;
}

/**
 * Lists the lines of one source file that are too long, and those of its doc comments that hold a tag behind other
 * words.
 * @param file path relative to the repository, with forward slashes
 */
export function findLineFaults(file: string, source: string): LineFault[] {
  const lines = source.split("\n");
  if (!lines.some((line) => line.length > COLUMNS) && !source.includes("@")) return [];
  const { comments, spans } = readSpans(file, source);
  const faults: LineFault[] = [];
  let start = 0;
  for (const [index, line] of lines.entries()) {
    const column = start + COLUMNS;
    if ([...line].length > COLUMNS && !(TESTS.test(file) && TEST_TITLE.test(line))) {
      const crossing = spans.filter((each) => each.start < column && each.end >= column);
      if (!crossing.some(({ unbreakable }) => unbreakable)) faults.push({ file, line: index + 1, what: "too long" });
    }
    start += line.length + 1;
  }
  for (const { value, start: offset } of comments) {
    if (!value.startsWith("*")) continue;
    const first = source.slice(0, offset).split("\n").length;
    for (const [index, line] of value.split("\n").entries()) {
      if (INNER_TAG.test(line)) faults.push({ file, line: first + index, what: "tag within a line" });
    }
  }
  return faults;
}

/** @throws Error where the source does not parse */
function readSpans(file: string, source: string): { comments: { value: string; start: number }[]; spans: Span[] } {
  const { program, comments, errors } = parseSync(file, source);
  if (errors[0]) throw new Error(`${file}: ${errors[0].message}`);
  const isTest = TESTS.test(file);
  const spans: Span[] = comments.map(({ value, start, end }) => ({ start, end, unbreakable: DIRECTIVE.test(value) }));
  new Visitor({
    Literal: ({ start, end, value, ...literal }) => {
      const isRegex = "regex" in literal;
      if (!isRegex && typeof value !== "string") return;
      spans.push({ start, end, unbreakable: isTest || isRegex || !/\s/.test(String(value)) });
    },
    TemplateLiteral: ({ start, end }) => {
      spans.push({ start, end, unbreakable: isTest || source.slice(start, end).includes("\n") });
    },
    TaggedTemplateExpression: ({ quasi: { start, end } }) => {
      spans.push({ start, end, unbreakable: true });
    },
  }).visit(program);
  return { comments, spans };
}

async function main(): Promise<void> {
  const root = join(import.meta.dirname, "..");
  const files = (await sourceFiles(root)).filter((file) => /\.tsx?$/.test(file));
  const faults: LineFault[] = [];
  for (const file of files) faults.push(...findLineFaults(file, await readFile(join(root, file), "utf8")));
  for (const { file, line, what } of faults) process.stderr.write(`${file}:${line} ${what}\n`);
  process.stdout.write(`lines: ${files.length} files, ${faults.length} lines too long or with a tag behind words\n`);
  if (faults.length > 0 || files.length === 0) process.exitCode = 1;
}

if (import.meta.main) await main();
