/**
 * The query language of archive search: words, "phrases", parentheses, `-`, `title:`, `snippet:`, `url:`, and AND, OR,
 * NOT, which are operators in capitals alone. It has no errors: what cannot be read as an operator is a word.
 */

export type Field = "title" | "snippet" | "url";

export type Expression =
  | { kind: "term"; field: Field | null; text: string; isPhrase: boolean }
  | { kind: "not"; of: Expression }
  | { kind: "and" | "or"; of: readonly Expression[] };

export type ArchiveQuery =
  | { mode: "browse" }
  /** `isCertain`: false where it may be a word with a dot as well as a host. */
  | { mode: "url"; url: string; isCertain: boolean; text: TextQuery }
  | { mode: "boolean"; expression: Expression }
  | TextQuery;

export interface TextQuery {
  mode: "text";
  words: readonly string[];
  phrases: readonly string[];
}

const SOMETHING = /[\p{L}\p{N}\p{RI}\p{Extended_Pictographic}]/u;

/** @param query at most some hundred characters: nesting is as deep as they allow */
export function parseArchiveQuery(query: string): ArchiveQuery {
  const clean = query.toWellFormed().replaceAll("\0", " ").normalize("NFC").trim();
  if (clean === "") return { mode: "browse" };
  const tokens = settled(tokensOf(clean));
  const text = textOf(tokens);
  const url = urlOf(clean);
  if (url !== undefined) return { mode: "url", ...url, text };
  if (!tokens.some(isSyntax)) return text;
  const expression = parse(tokens);
  return expression === undefined ? text : { mode: "boolean", expression };
}

/** How much a query says: one word, two, or more, a phrase, a number, an operator; null where there is none. */
export function breadthOf(query: string): "broad" | "mixed" | "specific" | null {
  const read = parseArchiveQuery(query);
  if (read.mode === "browse") return null;
  if (read.mode !== "text" || read.phrases.length > 0 || /\p{N}/u.test(query) || read.words.length > 2)
    return "specific";
  return read.words.length === 2 ? "mixed" : "broad";
}

type Token =
  | { kind: "term"; field: Field | null; text: string; isPhrase: boolean }
  | { kind: "AND" | "OR" | "NOT" | "-" | "(" | ")" };

const isSyntax = (token: Token): boolean => token.kind !== "term" || token.field !== null;

const FIELD = /^(title|snippet|url):/i;
const OPERATORS = new Set(["AND", "OR", "NOT"]);
const BLANK = /\s/;
/** As keyboards and phones write them. */
const QUOTES: Readonly<Record<string, string>> = { '"': '"', "“": "”", "„": "“", "«": "»" };

function tokensOf(query: string): Token[] {
  const tokens: Token[] = [];
  let at = 0;
  let open = 0;
  while (at < query.length) {
    const character = query.charAt(at);
    if (BLANK.test(character)) at++;
    else if (character === "(") {
      tokens.push({ kind: "(" });
      open++;
      at++;
    } else if (character === ")") {
      if (open > 0) {
        tokens.push({ kind: ")" });
        open--;
      }
      at++;
    } else if (character === "-" && /[^\s-]/.test(query.charAt(at + 1)) && isStart(query, at)) {
      tokens.push({ kind: "-" });
      at++;
    } else {
      const { token, end, closes } = termAt(query, at, open);
      if (token !== undefined) tokens.push(token);
      at = end;
      for (let i = 0; i < closes; i++) tokens.push({ kind: ")" });
      open -= closes;
    }
  }
  for (; open > 0; open--) tokens.push({ kind: ")" });
  return tokens;
}

const isStart = (query: string, at: number): boolean => at === 0 || /[\s(]/.test(query.charAt(at - 1));

interface FoundTerm {
  token: Token | undefined;
  end: number;
  /** Parentheses that end with the word. */
  closes: number;
}

function termAt(query: string, start: number, open: number): FoundTerm {
  const field = FIELD.exec(query.slice(start))?.[1]?.toLowerCase() as Field | undefined;
  const at = field === undefined ? start : start + field.length + 1;
  const quote = QUOTES[query.charAt(at)];
  if (quote !== undefined) {
    const close = endOfPhrase(query, at + 1, quote);
    return { token: termOf(field ?? null, query.slice(at + 1, close), true), end: close + 1, closes: 0 };
  }
  let end = at;
  let within = 0;
  // a parenthesis that the word opened itself belongs to it: f(x)
  while (end < query.length && !BLANK.test(query.charAt(end)) && query.charAt(end) !== '"') {
    if (query.charAt(end) === "(") within++;
    if (query.charAt(end) === ")" && --within < 0 && open > 0) break;
    end++;
  }
  const word = query.slice(at, end);
  if (word === "" && field !== undefined) {
    // a prefix without anything is a word
    return { token: termOf(null, field, false), end: Math.max(end, at), closes: 0 };
  }
  if (field === undefined && OPERATORS.has(word)) return { token: { kind: word as "AND" }, end, closes: 0 };
  return { token: termOf(field ?? null, word, false), end: Math.max(end, start + 1), closes: 0 };
}

function endOfPhrase(query: string, from: number, quote: string): number {
  const [first, second] = [query.indexOf(quote, from), query.indexOf('"', from)].filter((each) => each >= 0);
  return Math.min(first ?? query.length, second ?? query.length);
}

function termOf(field: Field | null, text: string, isPhrase: boolean): Token | undefined {
  const trimmed = text.trim();
  return SOMETHING.test(trimmed) ? { kind: "term", field, text: trimmed, isPhrase } : undefined;
}

const asWord = (text: string): Token => ({ kind: "term", field: null, text, isPhrase: false });

/** Operators without anything to operate on become words, so that "AND" and "salt AND" find what they say. */
function settled(tokens: readonly Token[]): Token[] {
  const left = withoutEmptyGroups(tokens);
  return left.flatMap((token, at) => {
    const [before, after] = [left[at - 1]?.kind, left[at + 1]?.kind];
    const hasAfter = after !== undefined && after !== ")" && after !== "AND" && after !== "OR";
    if (token.kind === "-") return hasAfter ? [token] : [];
    if (token.kind === "NOT") return hasAfter ? [token] : [asWord("NOT")];
    if (token.kind !== "AND" && token.kind !== "OR") return [token];
    const hasBefore = before === "term" || before === ")";
    return hasBefore && hasAfter ? [token] : [asWord(token.kind)];
  });
}

function withoutEmptyGroups(tokens: readonly Token[]): Token[] {
  const left: Token[] = [];
  for (const token of tokens) {
    if (token.kind === ")" && left.at(-1)?.kind === "(") left.pop();
    else left.push(token);
  }
  return left;
}

function textOf(tokens: readonly Token[]): TextQuery {
  const terms = tokens.filter((token) => token.kind === "term");
  return {
    mode: "text",
    words: terms.filter(({ isPhrase }) => !isPhrase).map(({ text }) => text),
    phrases: terms.filter(({ isPhrase }) => isPhrase).map(({ text }) => text),
  };
}

/** OR binds weaker than AND, which stands between all that has no operator; NOT and `-` bind strongest. */
function parse(tokens: readonly Token[]): Expression | undefined {
  let at = 0;
  const either = (): Expression | undefined => {
    const found: Expression[] = [];
    do {
      const next = all();
      if (next !== undefined) found.push(next);
    } while (tokens[at]?.kind === "OR" && ++at > 0);
    return joined("or", found);
  };
  const all = (): Expression | undefined => {
    const found: Expression[] = [];
    for (let token = tokens[at]; token !== undefined && token.kind !== ")" && token.kind !== "OR"; token = tokens[at]) {
      if (token.kind === "AND") {
        at++;
        continue;
      }
      const next = one();
      if (next !== undefined) found.push(next);
    }
    return joined("and", found);
  };
  const one = (): Expression | undefined => {
    const token = tokens[at++];
    if (token === undefined) return undefined;
    if (token.kind === "term") return token;
    if (token.kind === "NOT" || token.kind === "-") {
      const of = one();
      return of === undefined ? undefined : of.kind === "not" ? of.of : { kind: "not", of };
    }
    const inner = either();
    if (tokens[at]?.kind === ")") at++;
    return inner;
  };
  return either();
}

function joined(kind: "and" | "or", of: readonly Expression[]): Expression | undefined {
  return of.length <= 1 ? of[0] : { kind, of };
}

const BARE_HOST = /^(?:[\p{L}\p{N}](?:[\p{L}\p{N}-]*[\p{L}\p{N}])?\.)+\p{L}[\p{L}\p{N}-]+(?::\d{1,5})?$/iu;

/** A whole query that names a page. A word with a dot may be a host: whoever knows the hosts decides. */
function urlOf(query: string): { url: string; isCertain: boolean } | undefined {
  if (BLANK.test(query)) return undefined;
  const named = /^url:(?=.)/i.test(query);
  const text = named ? query.slice(4) : query;
  if (/^https?:\/\/[^/]/i.test(text)) return URL.canParse(text) ? { url: text, isCertain: true } : undefined;
  const slash = text.search(/[/?#]/);
  const host = slash < 0 ? text : text.slice(0, slash);
  if (!BARE_HOST.test(host) || !URL.canParse(`http://${text}`)) return undefined;
  const isCertain = named || /^www\./i.test(host) || slash >= 0;
  return { url: `http://${text}`, isCertain };
}
