/** Regions that are no country of ISO 3166-1, so that providers know none of that code. */
const NO_COUNTRY = new Set(["EU"]);
/** Codes that are said in another way than they are registered. */
const REGISTERED: Record<string, string> = { UK: "GB" };

/** Where Chinese is written in traditional characters. */
export const isTraditional = (geo: string | undefined): boolean => geo === "TW" || geo === "HK" || geo === "MO";

/** @returns the country's code, upper case; undefined where the region is none */
export function countryOf(geo: string | undefined): string | undefined {
  if (geo === undefined || NO_COUNTRY.has(geo)) return undefined;
  return REGISTERED[geo] ?? geo;
}
