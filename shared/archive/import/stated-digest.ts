/** Compares a digest as a record states it with the bytes that it is taken over. */
import { createHash, type Hash } from "node:crypto";

const ALGORITHMS: Readonly<Record<string, string>> = {
  sha1: "sha1",
  sha256: "sha256",
  sha384: "sha384",
  sha512: "sha512",
  md5: "md5",
};

/** The hash of `ALGORITHM:value`; undefined where it names no algorithm that is known. */
export function hashOf(stated: string | undefined): Hash | undefined {
  const name = stated?.slice(0, stated.indexOf(":")).toLowerCase().replace("-", "") ?? "";
  const algorithm = Object.hasOwn(ALGORITHMS, name) ? ALGORITHMS[name] : undefined;
  return algorithm === undefined ? undefined : createHash(algorithm);
}

/** Whether a digest is the one that is stated, in hex or base 32. */
export function isStated(digest: Buffer, stated: string): boolean {
  const value = stated.slice(stated.indexOf(":") + 1).trim();
  return (
    value.toLowerCase() === digest.toString("hex") ||
    /^([A-Z2-7]+)=*$/i.exec(value)?.[1]?.toUpperCase() === base32(digest)
  );
}

/** RFC 4648 section 6, without padding. */
function base32(bytes: Buffer): string {
  let [out, bits, held] = ["", 0, 0];
  for (const byte of bytes) {
    held = (held << 8) | byte;
    bits += 8;
    for (; bits >= 5; bits -= 5) out += ALPHABET[(held >> (bits - 5)) & 31];
    held &= 31;
  }
  return bits > 0 ? out + ALPHABET[(held << (5 - bits)) & 31] : out;
}

const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
