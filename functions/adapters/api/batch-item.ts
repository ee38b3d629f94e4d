/** Items of a batch that fail their schema alone: the others are worked on. */
import { z } from "zod";
import type { ApiError } from "../../../shared/platform/errors.ts";
import { unstorablePaths } from "./body.ts";
import { unstorableTextError, validationError } from "./errors.ts";

/** What passed the schema, or why it did not. */
export type BatchItem<Value> = { value: Value } | { fault(path: readonly PropertyKey[]): ApiError };

/**
 * Passes whatever comes, each item with its value or its fault.
 * @example z.strictObject({ documents: z.array(batchItem(uploadSchema)).max(50) })
 */
export const batchItem = <Schema extends z.ZodType>(schema: Schema) =>
  z.union([
    schema.transform((value): BatchItem<z.output<Schema>> => {
      const unstorable = unstorablePaths(value);
      if (unstorable.length === 0) return { value };
      return {
        fault: (at) =>
          unstorableTextError(
            unstorable.map((path) => [...at, ...path]),
            "body",
          ),
      };
    }),
    z
      .unknown()
      .transform((value): BatchItem<z.output<Schema>> => {
        const issues = schema.safeParse(value).error?.issues ?? [];
        const under = (at: readonly PropertyKey[]) => issues.map((each) => ({ ...each, path: [...at, ...each.path] }));
        return { fault: (at) => validationError(new z.ZodError(under(at)), "body") };
      })
      .describe("Whatever else fails alone, with VALIDATION_ERROR"),
  ]);

/**
 * Works on what passed, and puts the outcomes in the order of the request.
 * @param name of the field that holds the items
 */
export async function workOnBatch<Value, Outcome>(
  name: string,
  items: readonly BatchItem<Value>[],
  work: (values: Value[]) => Promise<Outcome[]>,
): Promise<(Outcome | { error: ApiError })[]> {
  const values = items.flatMap((item) => ("value" in item ? [item.value] : []));
  const done = values.length === 0 ? [] : await work(values);
  let next = 0;
  return items.map((item, at) => ("value" in item ? (done[next++] as Outcome) : { error: item.fault([name, at]) }));
}
