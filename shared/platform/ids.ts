import { createHash, randomFillSync } from "node:crypto";

/** UUIDv7 (RFC 9562 section 5.7): 48 bits of Unix milliseconds, then random bits, so that ids sort by creation. */
export function uuidv7(now: number = Date.now()): string {
  const bytes = randomFillSync(Buffer.allocUnsafe(16));
  bytes.writeUIntBE(now, 0, 6);
  bytes[6] = 0x70 | ((bytes[6] as number) & 0x0f);
  bytes[8] = 0x80 | ((bytes[8] as number) & 0x3f);
  const hex = bytes.toString("hex");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

/** SHA-256 of a UTF-8 string, as 32 bytes. */
export function sha256(text: string | Uint8Array): Buffer {
  return createHash("sha256").update(text).digest();
}
