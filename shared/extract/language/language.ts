/** Determines the language of a page as an ISO 639-1 code: what it declares, else what its text looks like. */
import { detectAll } from "tinyld/light";
import { languageByFunctionWords } from "./function-words.ts";

/** Nothing is right about fewer letters; menus and stubs stay "und". */
const MIN_LETTERS = 60;
const SAMPLE_CHARACTERS = 2000;
const MIN_ACCURACY = 0.15;
const MIN_LEAD = 1.5;

/** Three-letter codes that have a two-letter one, as pages declare them. */
const TWO_LETTER: Record<string, string> = {
  eng: "en",
  fra: "fr",
  fre: "fr",
  deu: "de",
  ger: "de",
  spa: "es",
  ita: "it",
  por: "pt",
  nld: "nl",
  dut: "nl",
  rus: "ru",
  jpn: "ja",
  zho: "zh",
  chi: "zh",
  kor: "ko",
  ara: "ar",
};

/**
 * Reads the language from a BCP 47 tag or a Content-Language list.
 * @returns the primary subtag, or null where it names no language
 */
export function declaredLanguage(value: string | null | undefined): string | null {
  const first = value?.split(",")[0]?.trim().toLowerCase() ?? "";
  const primary = /^[a-z]{2,3}(?=$|[-_])/.exec(first)?.[0];
  if (primary === undefined || primary === "und" || primary === "mul" || primary === "zxx") return null;
  return primary.length === 2 ? primary : (TWO_LETTER[primary] ?? null);
}

/** Scripts that one language (nearly) owns decide at once; the rest is left to letter statistics. */
const SCRIPTS: [string, RegExp][] = [
  ["ja", /[\u3040-\u30ff]/g],
  ["ko", /[\uac00-\ud7af]/g],
  ["zh", /[\u4e00-\u9fff]/g],
  ["el", /[\u0370-\u03ff]/g],
  ["he", /[\u0590-\u05ff]/g],
  ["th", /[\u0e00-\u0e7f]/g],
  ["hi", /[\u0900-\u097f]/g],
  ["ka", /[\u10a0-\u10ff]/g],
  ["hy", /[\u0530-\u058f]/g],
];

/** Languages that tinyld knows and that are not written in Latin letters. */
const OTHER_SCRIPTS = new Set(
  "ru uk bg be mk sr kk el he yi ar fa ur hi mr bn ta te gu kn th my km ka hy am ja zh ko".split(" "),
);

/**
 * Detects the language of a text.
 * @returns an ISO 639-1 code; "und" where the text is too short or too mixed to tell
 */
export function detectLanguage(text: string): string {
  const start = text.length > 3 * SAMPLE_CHARACTERS ? Math.floor(text.length / 3) : 0;
  const sample = text.slice(start, start + SAMPLE_CHARACTERS);
  const letters = sample.match(/\p{L}/gu)?.length ?? 0;
  for (const [language, script] of SCRIPTS) {
    const count = sample.match(script)?.length ?? 0;
    // Japanese mixes its kana with the characters that it shares with Chinese.
    if (count >= 8 && count >= letters * (language === "ja" ? 0.1 : 0.4)) return language;
  }
  if (letters < MIN_LETTERS) return "und";
  const sure = languageByFunctionWords(sample);
  if (sure !== null) return sure;
  const latin = (sample.match(/\p{Script=Latin}/gu)?.length ?? 0) > letters / 2;
  // tinyld takes terse English for Hindi, letters notwithstanding.
  const [best, second] = detectAll(sample).filter(({ lang }) => latin !== OTHER_SCRIPTS.has(lang));
  if (best === undefined || best.accuracy < MIN_ACCURACY) return "und";
  return second !== undefined && best.accuracy < second.accuracy * MIN_LEAD ? "und" : best.lang;
}
