/** Imports of scripts: what a module names is a reference of its text, which no script of ours could change later. */
import { init, initSync, parse } from "es-module-lexer";
import { archivedReference, type ReplayContext } from "./replay-url.ts";

/** More is no script that somebody wrote, and takes long. */
const LONGEST_SCRIPT = 8 * 1024 * 1024;

export const scriptsReady = init;

/** Maps what is known only when it runs; there where the page's script of ours runs. */
const dynamic = (expression: string, base: string): string =>
  `(globalThis.__archivedReference||(u=>u))(${expression},${base})`;

/** What is no script that can be read stays as it is. */
export function rewriteScript(source: string, context: ReplayContext): string {
  if (source.length > LONGEST_SCRIPT || !/\bimport\b|\bfrom\b/.test(source)) return source;
  const imports = importsOf(source);
  const parts: string[] = [];
  const own = JSON.stringify(context.url).replaceAll("<", "\\u003c");
  let copied = 0;
  const put = (start: number, end: number, text: string): void => {
    parts.push(source.slice(copied, start), text);
    copied = end;
  };
  let meta = false;
  for (const { n, s, e, d, ss } of imports) {
    if (ss < copied) continue;
    if (d === IMPORT_META) {
      meta = true;
      continue;
    }
    if (n === undefined) {
      if (d >= 0 && e > s) put(s, e, dynamic(source.slice(s, e), own));
      continue;
    }
    const reference = /^(?:https?:|\.{0,2}\/)/i.test(n) ? archivedReference(context, n, "js_") : undefined;
    if (reference === undefined) continue;
    const text = JSON.stringify(reference).replaceAll("<", "\\u003c");
    put(s, e, d >= 0 ? dynamic(text, own) : text.slice(1, -1).replaceAll("'", "\\'"));
  }
  parts.push(source.slice(copied));
  // what a module is told of itself is its own to change
  return `${meta ? `import.meta.url=${own};` : ""}${parts.join("")}`;
}

/** How es-module-lexer tells it. */
const IMPORT_META = -2;

function importsOf(source: string): ReturnType<typeof parse>[0] {
  try {
    initSync();
    return parse(source)[0];
  } catch {
    return [];
  }
}

/** An import map (WHATWG HTML, "parse an import map string"); what is none stays as it is. */
export function rewriteImportMap(text: string, context: ReplayContext, base: string): string {
  try {
    const map = JSON.parse(text) as Record<string, unknown>;
    const addressed = (value: unknown) =>
      Object.fromEntries(
        Object.entries(value as object).map(([name, address]) => [
          referenceOf(name),
          typeof address === "string" ? (referenceOf(address) ?? address) : address,
        ]),
      );
    const referenceOf = (name: string): string =>
      /^(?:https?:|\.{0,2}\/)/i.test(name) ? (archivedReference(context, name, "js_", base) ?? name) : name;
    return JSON.stringify({
      ...(map["imports"] ? { imports: addressed(map["imports"]) } : {}),
      ...(map["scopes"]
        ? {
            scopes: Object.fromEntries(
              Object.entries(map["scopes"]).map(([scope, inner]) => [
                archivedReference(context, scope, "js_", base) ?? scope,
                addressed(inner),
              ]),
            ),
          }
        : {}),
    }).replaceAll("<", "\\u003c");
  } catch {
    return text;
  }
}
