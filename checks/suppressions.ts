/**
 * `npm run check:suppressions`: lists every place where a check was told to look away (lint and compiler comments,
 * casts through `unknown`), so that they are seen in each run. Exits with 1 for those that are never wanted: `as any`,
 * `@ts-ignore`, `@ts-nocheck`, a whole file without lint, a comment without its reason.
 */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { parseSync, Visitor } from "oxc-parser";
import { sourceFiles } from "./imports.ts";

export interface Suppression {
  file: string;
  line: number;
  what: "lint comment" | "compiler comment" | "double cast" | "any" | "cast to any";
  text: string;
  /** Why it fails the check; undefined where it is listed only. */
  fault?: string;
}

const COMMENT =
  /^\s*\*?\s*(biome-ignore(?:-all|-start|-end)?|@ts-(?:ignore|nocheck|expect-error)|eslint-disable)\b(.*)/;
/** Letters of the shortest reason that can mean something. */
const SHORTEST_REASON = 10;

/** Finds the suppressions of one source file. */
export function findSuppressions(file: string, source: string): Suppression[] {
  const { program, comments } = parseSync(file, source);
  const found: Suppression[] = [];
  const lineOf = (offset: number): number => source.slice(0, offset).split("\n").length;
  for (const { value, start } of comments) {
    const [, directive, rest = ""] = COMMENT.exec(value) ?? [];
    if (directive === undefined) continue;
    const what = directive.startsWith("@ts") ? "compiler comment" : "lint comment";
    const fault = faultOf(directive, rest);
    found.push({ file, line: lineOf(start), what, text: value.trim(), ...(fault === undefined ? {} : { fault }) });
  }
  new Visitor({
    // a declared `any` needs a lint comment with its reason, which is checked above
    TSAnyKeyword: (node) => found.push({ file, line: lineOf(node.start), what: "any", text: "any" }),
    TSAsExpression: (node) => {
      const inner = node.expression;
      if (node.typeAnnotation.type === "TSAnyKeyword") {
        found.push({ file, line: lineOf(node.start), what: "cast to any", text: "as any", fault: "use unknown" });
      }
      if (inner.type !== "TSAsExpression" || inner.typeAnnotation.type !== "TSUnknownKeyword") return;
      found.push({
        file,
        line: lineOf(node.start),
        what: "double cast",
        text: lastLine(source.slice(inner.start, node.end)),
      });
    },
  }).visit(program);
  return found;
}

function faultOf(directive: string, rest: string): string | undefined {
  if (directive === "@ts-ignore") return "use @ts-expect-error, which fails once it is no longer needed";
  if (directive === "@ts-nocheck" || directive === "biome-ignore-all") return "no file goes unchecked as a whole";
  if (directive === "eslint-disable") return "the linter is Biome";
  const reason = directive.startsWith("biome") ? rest.slice(rest.indexOf(":") + 1) : rest;
  return reason.replace(/[^a-z]/gi, "").length < SHORTEST_REASON ? "say why" : undefined;
}

const lastLine = (text: string): string => (text.split("\n").at(-1) ?? "").trim().slice(-80);

async function main(): Promise<void> {
  const root = join(import.meta.dirname, "..");
  const found: Suppression[] = [];
  for (const file of await sourceFiles(root))
    found.push(...findSuppressions(file, await readFile(join(root, file), "utf8")));
  for (const { file, line, what, text, fault } of found) {
    process.stdout.write(`${file}:${line} ${what}: ${text}${fault === undefined ? "" : `  ← ${fault}`}\n`);
  }
  const faults = found.filter((each) => each.fault !== undefined).length;
  process.stdout.write(`suppressions: ${found.length} in all, ${faults} not wanted\n`);
  if (faults > 0) process.exitCode = 1;
}

if (import.meta.main) await main();
