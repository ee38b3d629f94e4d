/** Text that JSON allows and PostgreSQL does not store: NUL, and surrogates without their other half. */

import { isStorable } from "../../../shared/platform/text.ts";

/** The paths of strings that cannot be stored. Recursion is bounded by the schema that `value` has passed. */
export function unstorablePaths(value: unknown, path: readonly PropertyKey[] = []): PropertyKey[][] {
  if (typeof value === "string") return isStorable(value) ? [] : [[...path]];
  if (Array.isArray(value)) return value.flatMap((item, index) => unstorablePaths(item, [...path, index]));
  // dates and the like come from the schema, not from the caller
  if (typeof value !== "object" || value === null || Object.getPrototypeOf(value) !== Object.prototype) return [];
  return Object.entries(value).flatMap(([name, item]) => [
    ...unstorablePaths(name, [...path, name]),
    ...unstorablePaths(item, [...path, name]),
  ]);
}
