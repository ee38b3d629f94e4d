/** Query parameters of the archive's routes, in all the spellings that clients of its interface send. */
import { z } from "zod";
import { numberParameter } from "../api/numbers.ts";

const TRUE = ["true", "1", "yes", "y", "on", "t"] as const;
const FALSE = ["false", "0", "no", "n", "off", "f"] as const;

/** `true` and the like, in any case: some languages write `True`. */
export const flagParameter = z
  .string()
  .toLowerCase()
  .pipe(z.enum([...TRUE, ...FALSE]))
  .transform((text) => (TRUE as readonly string[]).includes(text));

/** The code of a source, or a host. */
export const sourceParameter = z
  .string()
  .min(1)
  .max(255)
  .transform((text) => text.toLowerCase());

/** From 1; one behind the last has nothing, however far. */
export const pageParameter = numberParameter(z.int().min(1).max(Number.MAX_SAFE_INTEGER).default(1));
