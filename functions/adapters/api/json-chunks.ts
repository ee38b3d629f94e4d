/**
 * A JSON object with one long array, in chunks: it is never whole in memory, and no limit of a buffered response holds.
 */

const CHUNK_CHARS = 64 * 1024;

/**
 * `{"<name>":[…items], …rest}`. Resolves once the first item is there, so that what goes wrong by then is still an
 * error response of its own.
 * @param rest the other properties, asked for once all items have been taken
 * @param most bytes of the items: the first that would be over it is taken and not written, and the array ends; one is
 * always written
 */
export async function jsonChunks<Item>(
  name: string,
  items: AsyncIterable<Item> | Iterable<Item>,
  rest: () => Promise<object>,
  most = Number.POSITIVE_INFINITY,
): Promise<AsyncGenerator<string, void, undefined>> {
  const iterator = Symbol.asyncIterator in items ? items[Symbol.asyncIterator]() : items[Symbol.iterator]();
  const first = await iterator.next();
  return write(name, first, iterator, rest, most);
}

async function* write<Item>(
  name: string,
  first: IteratorResult<Item>,
  iterator: AsyncIterator<Item> | Iterator<Item>,
  rest: () => Promise<object>,
  most: number,
): AsyncGenerator<string, void, undefined> {
  let chunk = `{${JSON.stringify(name)}:[`;
  let separator = "";
  let written = 0;
  try {
    for (let item = first; !item.done; item = await iterator.next()) {
      const json = JSON.stringify(item.value);
      const bytes = Buffer.byteLength(json);
      if (written > 0 && written + bytes > most) break;
      written += bytes;
      chunk += separator + json;
      separator = ",";
      if (chunk.length < CHUNK_CHARS) continue;
      yield chunk;
      chunk = "";
    }
  } finally {
    await iterator.return?.();
  }
  const others = JSON.stringify(await rest());
  yield others === "{}" ? `${chunk}]}` : `${chunk}],${others.slice(1)}`;
}
