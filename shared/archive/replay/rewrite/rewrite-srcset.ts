/** The candidates of a `srcset` (WHATWG HTML, "parse a srcset attribute"). */

/** @returns with each reference replaced, its descriptors kept */
export function rewriteSrcset(srcset: string, rewrite: (reference: string) => string | undefined): string {
  const candidates: string[] = [];
  let at = 0;
  const skip = (pattern: RegExp): void => {
    while (at < srcset.length && pattern.test(srcset[at] as string)) at += 1;
  };
  for (;;) {
    skip(/[\s,]/);
    if (at >= srcset.length) return candidates.join(", ");
    const start = at;
    skip(/\S/);
    const written = srcset.slice(start, at);
    let end = written.length;
    while (written[end - 1] === ",") end -= 1;
    const url = written.slice(0, end);
    let descriptors = "";
    if (url === written) {
      const from = at;
      for (let depth = 0; at < srcset.length && !(depth === 0 && srcset[at] === ","); at += 1) {
        if (srcset[at] === "(") depth += 1;
        else if (srcset[at] === ")") depth = Math.max(0, depth - 1);
      }
      descriptors = srcset.slice(from, at).trim();
    }
    candidates.push(`${rewrite(url) ?? url}${descriptors === "" ? "" : ` ${descriptors}`}`);
  }
}
