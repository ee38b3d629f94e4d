import type { IncomingMessage } from "node:http";

export class BodyTooLarge extends Error {}

/**
 * The whole body.
 * @throws BodyTooLarge before more than `limit` bytes are kept, or any where Content-Length tells; and an Error where
 * the connection ended before the body did
 */
export async function readBody(request: IncomingMessage, limit: number): Promise<Buffer> {
  if (Number(request.headers["content-length"] ?? 0) > limit) throw new BodyTooLarge();
  const chunks: Buffer[] = [];
  let length = 0;
  await new Promise<void>((resolve, reject) => {
    request.on("data", (chunk: Buffer) => {
      length += chunk.length;
      if (length <= limit) return void chunks.push(chunk);
      chunks.length = 0;
      // the connection stays: the answer still has to go out on it
      reject(new BodyTooLarge());
    });
    request.once("end", resolve);
    request.once("error", reject);
    request.once("close", () => reject(new Error("The request ended before its body did")));
  });
  return chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks, length);
}
