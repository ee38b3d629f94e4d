/** Which of PostgreSQL's dictionaries reads the words of a language. */

export interface Analyser {
  /** Languages that are read alike have one name. */
  name: string;
  /**
   * For words with any letter beyond ASCII, and for all words of a language in Latin script. null: words stay whole.
   */
  dictionary: string | null;
  /** For words of ASCII letters. */
  asciiDictionary: string | null;
  /** Where capitals have small letters of their own. */
  locale: string | undefined;
  /** Whether a word with marks is another word than the one without; both are found, the one with its marks first. */
  marksMatter: boolean;
  /** Whether spellings are too many for a stemmer to know, so that it reads the folded word alone. */
  foldedFirst: boolean;
}

/** ISO 639-1; each of them in PostgreSQL since 16. */
const LATIN: Record<string, string> = {
  eu: "basque",
  ca: "catalan",
  da: "danish",
  nl: "dutch",
  en: "english",
  fi: "finnish",
  fr: "french",
  de: "german",
  hu: "hungarian",
  id: "indonesian",
  ga: "irish",
  it: "italian",
  lt: "lithuanian",
  nb: "norwegian",
  nn: "norwegian",
  no: "norwegian",
  pt: "portuguese",
  ro: "romanian",
  // either script
  sr: "serbian",
  es: "spanish",
  sv: "swedish",
  tr: "turkish",
  // not known: most likely
  und: "english",
};
const OTHER_SCRIPTS: Record<string, string> = {
  ar: "arabic",
  el: "greek",
  hi: "hindi",
  hy: "armenian",
  ne: "nepali",
  ru: "russian",
  ta: "tamil",
  yi: "yiddish",
};
const LATIN_WITHOUT_DICTIONARY = new Set(
  "af az bs cs cy eo et fo gl haw hr is jv la lb lv mg mi ms mt oc pl qu sk sl so sq sw tk tl uz vi xh yo zu".split(
    " ",
  ),
);
const MARKS_MATTER = new Set(["vi"]);
const FOLDED_FIRST = new Set(["ar"]);
const LOCALES: Record<string, string> = { tr: "tr", az: "az" };

const analysers = new Map<string, Analyser>();

/** @param language ISO 639-1, perhaps with a region; "und" where it is not known */
export function analyserOf(language: string): Analyser {
  const known = analysers.get(language);
  if (known !== undefined) return known;
  const code = language.toLowerCase().split(/[-_]/)[0] ?? "";
  const latin = LATIN_WITHOUT_DICTIONARY.has(code) ? null : LATIN[code];
  const dictionary = latin === undefined ? (OTHER_SCRIPTS[code] ?? null) : latin;
  // texts in other scripts quote English
  const asciiDictionary = latin === undefined ? "english" : latin;
  const locale = LOCALES[code];
  const marksMatter = MARKS_MATTER.has(code);
  const foldedFirst = FOLDED_FIRST.has(code);
  const name = [dictionary, asciiDictionary, locale ?? "", marksMatter ? "marks" : ""].join("/");
  const analyser = { name, dictionary, asciiDictionary, locale, marksMatter, foldedFirst };
  // what a page declares is kept as long as it is one of few
  if (analysers.size < 1_000) analysers.set(language, analyser);
  return analyser;
}
