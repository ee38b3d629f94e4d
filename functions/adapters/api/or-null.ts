/** Fields that a reference lets be left out: clients that write all of a model's fields send null for them. */
import type { z } from "zod";

/** Null means the same as leaving it out. */
export const orNull = <Schema extends z.ZodType>(schema: Schema) =>
  schema.nullish().transform((value) => value ?? undefined);

/** The same where there is a value to fall back to. */
export const orNullAs = <Schema extends z.ZodType>(schema: Schema, fallback: z.util.NoUndefined<z.output<Schema>>) =>
  schema
    .nullable()
    .default(fallback)
    .transform((value) => value ?? fallback);
