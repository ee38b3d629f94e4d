/** Numbers of queries and paths. */
import { z } from "zod";

/**
 * A parameter that is a whole number in decimal digits: `0x10`, `1e2`, `5.0` and ` 5 ` are none, though JavaScript
 * reads them as numbers.
 * @param number what it may be; optional, or with a default, where it may be left out
 * @example
 * numberParameter(z.int().min(1).max(200).default(50))
 */
export function numberParameter<Schema extends z.ZodType<number | undefined>>(number: Schema) {
  return z.preprocess((given, { issues }) => {
    if (given === undefined) return undefined;
    if (typeof given === "string" && DECIMAL.test(given)) return Number(given);
    issues.push({ code: "custom", message: "is not a whole number in decimal digits", input: given });
    return z.NEVER;
  }, number);
}

const DECIMAL = /^-?\d+$/;
