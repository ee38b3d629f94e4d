/** Content negotiation (RFC 9110, section 12.5.1). */

interface Range {
  type: string;
  subtype: string;
  /** 0 to 1; 0: not acceptable. */
  quality: number;
}

/**
 * Of the offered media types the one that an `Accept` header likes best; of equals the first. Without a header that is
 * the first of them. What is no media range in the header counts for nothing.
 * @param offered lower case, without parameters
 * @returns undefined where none is acceptable
 */
export function preferredType<Type extends string>(
  accept: string | undefined,
  offered: readonly Type[],
): Type | undefined {
  if (accept === undefined || accept.trim() === "") return offered[0];
  const ranges = accept.split(",").flatMap((each) => rangeOf(each) ?? []);
  let best: { type: Type; quality: number } | undefined;
  for (const type of offered) {
    const quality = qualityOf(type, ranges);
    if (quality > (best?.quality ?? 0)) best = { type, quality };
  }
  return best?.type;
}

function rangeOf(text: string): Range | undefined {
  const [range = "", ...parameters] = text.split(";").map((part) => part.trim().toLowerCase());
  const match = /^([^\s/]+)\/([^\s/]+)$/.exec(range);
  if (match === null || (match[1] === "*" && match[2] !== "*")) return undefined;
  const weight = parameters.find((parameter) => /^q\s*=/.test(parameter))?.replace(/^q\s*=\s*/, "");
  if (weight !== undefined && !/^(0(\.\d{0,3})?|1(\.0{0,3})?)$/.test(weight)) return undefined;
  return { type: match[1] as string, subtype: match[2] as string, quality: Number(weight ?? 1) };
}

/** That of the most specific range that fits. */
function qualityOf(offered: string, ranges: readonly Range[]): number {
  const [type, subtype] = offered.split("/");
  const fitting = (wantedType: string | undefined, wantedSubtype: string | undefined) =>
    ranges.find((range) => range.type === wantedType && range.subtype === wantedSubtype);
  return (fitting(type, subtype) ?? fitting(type, "*") ?? fitting("*", "*"))?.quality ?? 0;
}
