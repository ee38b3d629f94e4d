/** Makes the ids and hashes of the system. */
import { hash, randomUUID } from "node:crypto";

/**
 * Makes a UUIDv7 (RFC 9562 section 5.7): 48 bits of Unix milliseconds, then random bits, so that ids sort by creation.
 */
export function uuidv7(now: number = Date.now()): string {
  const time = now.toString(16).padStart(12, "0");
  // version 4 has its variant and random bits where version 7 wants them, and Node draws them from a pool
  return `${time.slice(0, 8)}-${time.slice(8)}-7${randomUUID().slice(15)}`;
}

/**
 * Reads when a UUIDv7 was made.
 * @returns Unix milliseconds; undefined for other versions
 */
export function uuidTime(id: string): number | undefined {
  return id[14] === "7" ? Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16) : undefined;
}

/** Hashes a text, as UTF-8, or bytes with SHA-256, to 32 bytes. */
export function sha256(text: string | Uint8Array): Buffer {
  return hash("sha256", text, "buffer");
}
