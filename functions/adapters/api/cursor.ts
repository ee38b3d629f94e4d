/** Opaque cursors: base64url of whatever names the last item of a page. */
import { z } from "zod";

export const encodeCursor = (position: string): string => Buffer.from(position).toString("base64url");

/** A query parameter that holds a cursor whose position fits `position`. */
export function cursorParameter(position: z.ZodType<string>): z.ZodType<string | undefined> {
  return (
    z
      .string()
      // the longest position is the key of an object
      .max(2048)
      .transform((text) => Buffer.from(text, "base64url").toString())
      .refine((text) => position.safeParse(text).success, "not a cursor of this list")
      .optional()
  );
}

/** A page of a list: asks for one item more than `limit`, so that the last page is known as such. */
export function cursorPage<Item>(
  found: readonly Item[],
  limit: number,
  positionOf: (item: Item) => string,
): { items: Item[]; next_cursor: string | null; has_more: boolean } {
  const items = found.slice(0, limit);
  const last = items.at(-1);
  const has_more = found.length > limit;
  return { items, next_cursor: has_more && last !== undefined ? encodeCursor(positionOf(last)) : null, has_more };
}
