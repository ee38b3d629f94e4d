/** References in style sheets (CSS Syntax Level 3, CSS Values Level 4 section 4.5). */

/** @returns what stands in its place; undefined: the same */
export type RewriteReference = (reference: string, kind: "import" | "resource") => string | undefined;

/** Functions whose strings are references. */
const REFERRING = /^(url|src|image-set|-webkit-image-set)$/;
const NAME = /[-\w\u0080-\uffff]/;
const SPACE = /\s/;

/** Everything but the references stays as it is written. */
export function rewriteCss(css: string, rewrite: RewriteReference): string {
  const parts: string[] = [];
  let copied = 0;
  const put = (start: number, end: number, text: string): void => {
    parts.push(css.slice(copied, start), text);
    copied = end;
  };
  const open: string[] = [];
  let importing = false;
  const kind = () => (importing ? "import" : "resource");
  for (let at = 0; at < css.length; ) {
    const character = css[at] as string;
    if (character === "/" && css[at + 1] === "*") {
      at = endOf(css, "*/", at + 2);
    } else if (character === '"' || character === "'") {
      const { value, end, whole } = readString(css, at);
      const refers = whole && (REFERRING.test(open.at(-1) ?? "") || (importing && open.length === 0));
      const rewritten = refers ? rewrite(value, kind()) : undefined;
      if (rewritten !== undefined) put(at, end, quoted(rewritten));
      if (refers) importing = false;
      at = end;
    } else if (character === "@") {
      const { name, end } = readName(css, at + 1);
      importing = name === "import";
      // a namespace is a name that looks like a URL
      at = name === "namespace" ? endOf(css, ";", end) : Math.max(end, at + 1);
    } else if (NAME.test(character) || isEscape(css, at)) {
      const { name, end } = readName(css, at);
      at = end;
      if (css[end] !== "(") continue;
      const inner = name === "url" ? readUnquoted(css, end + 1) : undefined;
      if (inner === undefined) {
        open.push(name);
        at = end + 1;
        continue;
      }
      const rewritten = rewrite(inner.value, kind());
      if (rewritten !== undefined) put(end + 1, inner.end - 1, quoted(rewritten));
      importing = false;
      at = inner.end;
    } else {
      if (character === "(") open.push("");
      else if (character === ")") open.pop();
      else if (character === "{" || character === "}" || character === ";") {
        open.length = 0;
        importing = false;
      }
      at += 1;
    }
  }
  if (copied === 0) return css;
  parts.push(css.slice(copied));
  return parts.join("");
}

function endOf(css: string, mark: string, from: number): number {
  const at = css.indexOf(mark, from);
  return at < 0 ? css.length : at + mark.length;
}

const isEscape = (css: string, at: number): boolean => css[at] === "\\" && !/[\n\r\f]/.test(css[at + 1] ?? "\n");

const ESCAPE = /^\\(?:([0-9a-f]{1,6})(?:\r\n|\s)?|([\s\S]))/i;

function readEscape(css: string, at: number): { character: string; end: number } {
  const [all = "\\", hex, other = ""] = ESCAPE.exec(css.slice(at, at + 9)) ?? [];
  if (hex === undefined) return { character: other, end: at + all.length };
  const point = Number.parseInt(hex, 16);
  const valid = point > 0 && point <= 0x10ffff && !(point >= 0xd800 && point <= 0xdfff);
  return { character: String.fromCodePoint(valid ? point : 0xfffd), end: at + all.length };
}

/** In lower case, escapes undone. */
function readName(css: string, from: number): { name: string; end: number } {
  let name = "";
  let at = from;
  while (at < css.length) {
    if (NAME.test(css[at] as string)) name += css[at++];
    else if (isEscape(css, at)) {
      const { character, end } = readEscape(css, at);
      name += character;
      at = end;
    } else break;
  }
  return { name: name.toLowerCase(), end: at };
}

/** @returns `whole`: whether it ends before its line does */
function readString(css: string, from: number): { value: string; end: number; whole: boolean } {
  const quote = css[from];
  let value = "";
  let at = from + 1;
  while (at < css.length) {
    const character = css[at] as string;
    if (character === quote) return { value, end: at + 1, whole: true };
    if (/[\n\r\f]/.test(character)) return { value, end: at, whole: false };
    if (character !== "\\") {
      value += character;
      at += 1;
    } else if (isEscape(css, at)) {
      const { character: escaped, end } = readEscape(css, at);
      value += escaped;
      at = end;
    } else at += css.startsWith("\r\n", at + 1) ? 3 : 2;
  }
  // a string that the end of the sheet ends is one
  return { value, end: at, whole: true };
}

/** @returns undefined where a string follows, whose function is like any other */
function readUnquoted(css: string, from: number): { value: string; end: number } | undefined {
  let at = from;
  while (SPACE.test(css[at] ?? "")) at += 1;
  if (css[at] === '"' || css[at] === "'") return undefined;
  let value = "";
  while (at < css.length && css[at] !== ")") {
    if (isEscape(css, at)) {
      const { character, end } = readEscape(css, at);
      value += character;
      at = end;
    } else value += css[at++];
  }
  return { value: value.trim(), end: Math.min(at + 1, css.length + 1) };
}

const quoted = (text: string): string =>
  `"${text
    .replace(/["\\]/g, "\\$&")
    .replace(/[\n\r\f]/g, "")
    .replaceAll("<", "%3C")}"`;
