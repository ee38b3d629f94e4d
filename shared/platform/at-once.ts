/** Bounded concurrency. */

/**
 * Does the work for each item, `many` at a time. Items are taken one by one, as room is made for them.
 *
 * @throws the first fault of the work, without waiting for the rest
 */
export async function atOnce<Item>(
  many: number,
  items: Iterable<Item>,
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const left = items[Symbol.iterator]();
  const worker = async (): Promise<void> => {
    for (let next = left.next(); !next.done; next = left.next()) await work(next.value);
  };
  await Promise.all(Array.from({ length: many }, worker));
}
