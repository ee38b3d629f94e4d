/** HTML whose texts cannot become markup: what is put into a template is escaped, unless a template made it. */

const ESCAPES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** A piece of HTML. */
export class Markup {
  readonly html: string;

  constructor(html: string) {
    this.html = html;
  }
}

export type Content = Markup | string | number | undefined | readonly Content[];

const htmlOf = (content: Content): string => {
  if (content instanceof Markup) return content.html;
  if (content === undefined) return "";
  if (typeof content === "object") return content.map(htmlOf).join("");
  return String(content).replace(/[&<>"']/g, (each) => ESCAPES[each] ?? each);
};

/**
 * A template of HTML: lists are joined, what is undefined is left out.
 *
 * @example
 * html`<li>${name}</li>`
 */
export const html = (parts: TemplateStringsArray, ...contents: Content[]): Markup =>
  new Markup(parts.map((part, index) => part + htmlOf(contents[index])).join(""));

/** Words in which `backticks` mark code, and **stars** what is strong. */
export function prose(text: string): Content[] {
  return text.split(/(`[^`]+`|\*\*[^*]+\*\*)/).map((part) => {
    if (/^`[^`]+`$/.test(part)) return html`<code>${part.slice(1, -1)}</code>`;
    if (/^\*\*[^*]+\*\*$/.test(part)) return html`<strong>${part.slice(2, -2)}</strong>`;
    return part;
  });
}

/** Joins with a word between. */
export const joined = (contents: readonly Content[], between: string): Content[] =>
  contents.flatMap((each, index) => (index === 0 ? [each] : [between, each]));
