/** Pages in twelve encodings, declared by the header, by the markup, or by a byte order mark. */
import { encodeAs } from "./legacy-encoding.ts";
import type { SiteAnswer } from "./site.ts";

const TEXTS: Record<string, string> = {
  "utf-8": "Ünïcödé — 日本語, русский, עברית 😀",
  "utf-16le": "Ünïcödé in two bytes each — русский",
  "windows-1252": "Les élèves françaises “aiment” l’été à la plage — déjà près de 5 € l’entrée.",
  "iso-8859-2": "Zażółć gęślą jaźń. Příliš žluťoučký kůň úpěl ďábelské ódy.",
  "windows-1251": "Россия является крупнейшим государством в мире по площади.",
  "koi8-r": "Столица страны это Москва, население велико.",
  "iso-8859-7": "Ξεσκεπάζω την ψυχοφθόρα βδελυγμία του σύγχρονου κόσμου.",
  "windows-1254": "Pijamalı hasta yağız şoföre çabucak güvendi.",
  shift_jis: "いろはにほへと ちりぬるを 我が世誰ぞ 常ならむ",
  "euc-jp": "有為の奥山 今日越えて 浅き夢見し 酔ひもせず",
  gb18030: "我能吞下玻璃而不伤身体。今天的天气很好。",
  "euc-kr": "키스의 고유조건은 입술끼리 만나야 하고 특별한 기술은 필요치 않다.",
};

/** Labels of the pages below `/charset/`. */
export const CHARSETS = Object.keys(TEXTS);

/** What the page in that encoding says. */
export const charsetText = (charset: string): string => TEXTS[charset] ?? "";

/**
 * Every other page declares its encoding in the markup alone, so that nothing but the bytes tells a reader of headers.
 */
export function charsetPage(path: string): SiteAnswer | undefined {
  const charset = /^\/charset\/([\w-]+)$/.exec(path)?.[1] ?? "";
  const text = TEXTS[charset];
  if (text === undefined) return undefined;
  const inMarkup = charset !== "utf-16le" && CHARSETS.indexOf(charset) % 2 === 1;
  const meta = inMarkup ? `<meta charset="${charset}">` : "";
  const markup = `<!doctype html><html><head>${meta}<title>${charset}</title></head><body><main><p>${text}</p></main></body></html>`;
  const body = charset === "utf-16le" ? encodeAs(`\ufeff${markup}`, charset) : encodeAs(markup, charset);
  return { headers: { "Content-Type": inMarkup ? "text/html" : `text/html; charset=${charset}` }, body };
}
