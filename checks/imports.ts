/**
 * Reads which file imports what with a TypeScript parser: static, dynamic and type imports, re-exports, module URLs.
 */
import { glob } from "node:fs/promises";
import { posix } from "node:path";
import { parseSync, Visitor } from "oxc-parser";

export type Import = { from: string; line: number } & (
  | { file: string; package?: undefined }
  | { package: string; file?: undefined }
);

/** Lists every TypeScript and JavaScript file of the project, relative to `root`, with forward slashes. */
export async function sourceFiles(root: string): Promise<string[]> {
  const folders = "{shared,functions,infra,local,cli,demo,bench,test,checks,console}";
  const files: string[] = [];
  const exclude = (name: string): boolean =>
    /(^|[\\/])(node_modules|fixtures|cdk\.out|bench[\\/]results|console[\\/](?:\.dist-\w+|dist))$/.test(name);
  for await (const file of glob([`${folders}/**/*.{ts,tsx,js,mjs,cjs}`, "*.{ts,js,mjs,cjs}"], { cwd: root, exclude })) {
    files.push(file.replaceAll("\\", "/"));
  }
  return files.sort();
}

/**
 * Reads the imports of one file.
 * @throws Error where the source does not parse
 */
export function readImports(from: string, source: string): Import[] {
  const { program, errors } = parseSync(from, source);
  if (errors[0]) throw new Error(`${from}: ${errors[0].message}`);
  const found: Import[] = [];
  const add = (literal: { type: string; value?: unknown; start: number } | null | undefined): void => {
    if (typeof literal?.value !== "string") return;
    const line = source.slice(0, literal.start).split("\n").length;
    const isRelative = /^\.\.?\//.test(literal.value);
    const target = isRelative ? posix.normalize(posix.join(posix.dirname(from), literal.value)) : literal.value;
    // a package's own files, reached by path, are that package
    const name = isRelative ? /^(?:.*\/)?node_modules\/(.+)$/.exec(target)?.[1] : target;
    found.push(name === undefined ? { from, line, file: target } : { from, line, package: name });
  };
  new Visitor({
    ImportDeclaration: (node) => add(node.source),
    ExportNamedDeclaration: (node) => add(node.source),
    ExportAllDeclaration: (node) => add(node.source),
    ImportExpression: (node) => add(node.source.type === "Literal" ? node.source : undefined),
    TSImportType: (node) => add(node.source),
    NewExpression: (node) => {
      // new URL("./worker.ts", import.meta.url): how a worker thread is named
      const first = node.arguments[0];
      const isUrl = node.callee.type === "Identifier" && node.callee.name === "URL";
      if (isUrl && first?.type === "Literal" && /^\.\.?\/.*\.[cm]?[jt]s$/.test(String(first.value))) add(first);
    },
  }).visit(program);
  return found;
}
