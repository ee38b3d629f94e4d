/**
 * What the output can show: width, colours, whether a line can be drawn again. Page text is made harmless before it is
 * shown.
 */

export interface Terminal {
  /** Columns to fill, at the most. */
  width: number;
  /** A person looks at it, so that lines may be redrawn. */
  interactive: boolean;
  bold(text: string): string;
  dim(text: string): string;
  /** A matched word. */
  highlight(text: string): string;
  write(text: string): void;
  line(text?: string): void;
  /** One row of a list: cut where a person looks at it, and whole where a program reads it. */
  row(text: string): void;
}

interface Output {
  isTTY?: boolean;
  columns?: number;
  write(text: string): unknown;
}

const PIPED_WIDTH = 80;
const WIDEST = 100;
const NARROWEST = 40;

export function createTerminal(output: Output, env: Record<string, string | undefined>): Terminal {
  const interactive = output.isTTY === true && env["TERM"] !== "dumb";
  // https://no-color.org: present and not empty
  const colour = interactive && !env["NO_COLOR"];
  const style = (on: number, off: number) => (text: string) => (colour ? `\x1b[${on}m${text}\x1b[${off}m` : text);
  const bold = style(1, 22);
  const yellow = style(33, 39);
  const width = Math.max(NARROWEST, Math.min(output.columns ?? PIPED_WIDTH, WIDEST));
  const line = (text = "") => void output.write(`${output.isTTY === true ? steerless(text) : text}\n`);
  return {
    width,
    interactive,
    bold,
    dim: style(2, 22),
    highlight: (text) => bold(yellow(text)),
    write: (text) => void output.write(text),
    line,
    row: (text) => line(output.isTTY === true ? ellipsize(text, width) : text),
  };
}

const STEERING = String.raw`[\p{Cc}\u200e\u200f\u202a-\u202e\u2066-\u2069]`;
const ANY_STEERING = new RegExp(STEERING, "gu");
/** All but line breaks, tabs and the styles of `createTerminal`. */
const FOREIGN_STEERING = new RegExp(String.raw`\x1b\[(?:1|2|22|33|39)m|(?![\n\t])${STEERING}`, "gu");

/** Text of a page without control characters, which could steer the terminal; every character keeps its place. */
export const harmless = (text: string): string => text.replace(ANY_STEERING, " ");

/** Lines of any origin for a terminal that a person looks at, our own styles left. */
export const steerless = (text: string): string =>
  text.replace(FOREIGN_STEERING, (found) => (found.length > 1 ? found : " "));

const ZERO_WIDTH = /[\p{Mn}\p{Me}\p{Cf}]/u;
const DOUBLE_WIDTH =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}|[\u{20000}-\u{3fffd}]/u;

/** Columns that a text takes. */
export function columnsOf(text: string): number {
  let columns = 0;
  for (const character of text) columns += ZERO_WIDTH.test(character) ? 0 : DOUBLE_WIDTH.test(character) ? 2 : 1;
  return columns;
}

/** The text cut to so many columns, with an ellipsis where something is missing. */
export function ellipsize(text: string, columns: number): string {
  if (columnsOf(text) <= columns) return text;
  let kept = "";
  let used = 0;
  for (const character of text) {
    const width = columnsOf(character);
    if (used + width > columns - 1) break;
    kept += character;
    used += width;
  }
  return `${kept}…`;
}

/** A URL cut to so many columns in its middle, without its scheme: what tells URLs of a site apart is at their end. */
export function shortUrl(url: string, columns: number): string {
  const text = harmless(url);
  if (columnsOf(text) <= columns) return text;
  const bare = text.replace(/^https?:\/\//, "");
  if (columnsOf(bare) <= columns) return bare;
  const host = columnsOf(bare.replace(/\/.*/s, ""));
  const head = Math.min(host + 1, Math.floor(columns / 3));
  const end = ellipsize([...bare].reverse().join(""), columns - head);
  return ellipsize(bare, head + 1).slice(0, -1) + [...end].reverse().join("");
}
