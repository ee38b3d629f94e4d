/** The hash that AWS's signatures are made with, as `@smithy/signature-v4` asks for it. */
import { createHash, createHmac, type Hash, type Hmac } from "node:crypto";

export class Sha256 {
  readonly #hash: Hash | Hmac;

  constructor(secret?: string | ArrayBuffer | ArrayBufferView) {
    this.#hash = secret === undefined ? createHash("sha256") : createHmac("sha256", secret as string);
  }

  update(chunk: string | ArrayBuffer | ArrayBufferView): void {
    this.#hash.update(chunk as string);
  }

  async digest(): Promise<Uint8Array> {
    return this.#hash.digest();
  }
}
