import type { IncomingMessage } from "node:http";

export class BodyTooLarge extends Error {}

/**
 * The whole body.
 * @throws BodyTooLarge before more than `limit` bytes are kept, or any where Content-Length tells; and an Error where
 * the connection, or the time, ended before the body did
 */
export async function readBody(request: IncomingMessage, limit: number, withinMs?: number): Promise<Buffer> {
  if (Number(request.headers["content-length"] ?? 0) > limit) throw new BodyTooLarge();
  const chunks: Buffer[] = [];
  let length = 0;
  let timer: NodeJS.Timeout | undefined;
  await new Promise<void>((resolve, reject) => {
    if (withinMs !== undefined)
      timer = setTimeout(() => reject(new Error("The body did not arrive in time")), withinMs);
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
  }).finally(() => clearTimeout(timer));
  return chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks, length);
}
