import type { IncomingMessage } from "node:http";

export class BodyTooLarge extends Error {}

/**
 * The whole body.
 * @throws BodyTooLarge before more than `limit` bytes are kept, or any where Content-Length tells
 */
export async function readBody(request: IncomingMessage, limit: number): Promise<Buffer> {
  if (Number(request.headers["content-length"] ?? 0) > limit) throw new BodyTooLarge();
  const chunks: Buffer[] = [];
  let length = 0;
  // leaving the loop early must not end the connection: the answer still has to go out on it
  for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > limit) throw new BodyTooLarge();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, length);
}
