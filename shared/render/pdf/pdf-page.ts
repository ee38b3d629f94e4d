/** A PDF as a page: each of its pages is a section that is headed by its number. */
import type { RenderedPage } from "../renderer.ts";
import { type PdfText, readPdf } from "./read-pdf.ts";

/** @throws RenderError where no page could be read */
export async function renderPdf(
  bytes: Uint8Array,
  options: { timeoutMs: number; signal?: AbortSignal },
): Promise<RenderedPage> {
  const text = await readPdf(bytes, options);
  return { html: pdfAsHtml(text), navigations: [], shortcoming: text.shortcoming };
}

export function pdfAsHtml({ title, pages }: Pick<PdfText, "title" | "pages">): string {
  const sections = [...pages].flatMap(([number, text]) => {
    const paragraphs = paragraphsOf(text).map((paragraph) => `<p>${escapeText(paragraph)}</p>`);
    return paragraphs.length === 0 ? [] : [`<section><h2>Page ${number}</h2>\n${paragraphs.join("\n")}</section>`];
  });
  const head = title === null ? "" : `<title>${escapeText(title)}</title>`;
  return `<!doctype html><html><head>${head}</head><body>\n${sections.join("\n")}\n</body></html>`;
}

/** A line that ends a sentence well before the others end a line ends its paragraph. */
const SHORT_LINE = 0.8;

/** Lines are joined as far as they read like one paragraph; a word that was divided between two is whole again. */
function paragraphsOf(text: string): string[] {
  const lines = text.split("\n").map((line) => line.trim());
  const longest = Math.max(...lines.map(({ length }) => length));
  const paragraphs: string[] = [];
  let current = "";
  const flush = (): void => {
    if (current !== "") paragraphs.push(current);
    current = "";
  };
  for (const line of lines) {
    if (line === "") flush();
    else if (/\p{Ll}-$/u.test(current) && /^\p{Ll}/u.test(line)) current = current.slice(0, -1) + line;
    else current = current === "" ? line : `${current} ${line}`;
    if (/[.!?:。！？]$/u.test(line) && line.length < longest * SHORT_LINE) flush();
  }
  flush();
  return paragraphs;
}

const escapeText = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
