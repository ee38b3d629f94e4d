/**
 * Codes of countries and languages, as far as they stand for one: a provider makes an error of another, or takes it for
 * nothing.
 */
const COUNTRIES = new Intl.DisplayNames("en", { type: "region", fallback: "none" });
const LANGUAGES = new Intl.DisplayNames("en", { type: "language", fallback: "none" });

/** Regions that are no country of ISO 3166-1, and codes for none. */
const NO_COUNTRY = new Set(["EU", "EZ", "UN", "QO", "ZZ", "XA", "XB"]);
/** Codes that are said in another way than they are registered. */
const REGISTERED: Record<string, string> = { UK: "GB" };

/** Where Chinese is written in traditional characters. */
export const isTraditional = (geo: string | undefined): boolean => geo === "TW" || geo === "HK" || geo === "MO";

/** @returns the country's code, upper case; undefined where the region is none */
export function countryOf(geo: string | undefined): string | undefined {
  if (geo === undefined || NO_COUNTRY.has(geo) || COUNTRIES.of(geo) === undefined) return undefined;
  return REGISTERED[geo] ?? geo;
}

/** @returns the code; undefined where it stands for no language */
export const knownLanguage = (lang: string | undefined): string | undefined =>
  lang !== undefined && LANGUAGES.of(lang) !== undefined ? lang : undefined;
