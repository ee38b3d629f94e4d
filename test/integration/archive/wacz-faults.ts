/** The rules by which the field's validator judges a WACZ file, and those of WACZ Signing and Verification 0.1.0. */
import { createHash } from "node:crypto";
import { zipEntries } from "./zip-file.ts";

const DIGEST = "datapackage-digest.json";
const sha256 = (bytes: Uint8Array): string => `sha256:${createHash("sha256").update(bytes).digest("hex")}`;

interface Signed {
  hash: string;
  created: string;
  publicKey: string;
  signature: string;
}

/** Whether the key that stands beside it has signed the hash, as players verify it. */
async function isSigned({ hash, publicKey, signature }: Signed): Promise<boolean> {
  const algorithm = { name: "ECDSA", namedCurve: "P-384", hash: "SHA-256" };
  const key = await crypto.subtle.importKey("spki", Buffer.from(publicKey, "base64"), algorithm, true, ["verify"]);
  return await crypto.subtle.verify(algorithm, key, Buffer.from(signature, "base64"), Buffer.from(hash));
}

/** @returns what breaks which rule; empty: valid, and signed */
export async function waczFaults(file: Buffer): Promise<string[]> {
  try {
    const entries = zipEntries(file);
    const faults: string[] = [];
    const json = (name: string) => JSON.parse(entries.get(name)?.toString() ?? "");
    const { resources, wacz_version, profile, created } = json("datapackage.json") as {
      resources: { name: string; path: string; hash: string; bytes: number }[];
      wacz_version: string;
      profile: string;
      created: string;
    };
    if (profile !== "data-package" || !/^1\.\d+\.\d+$/.test(wacz_version))
      faults.push("datapackage.json: no WACZ package");
    for (const needed of [
      /^archive\/[^/]+\.warc(\.gz)?$/,
      /^indexes\/index\.(cdxj?|cdx\.gz|idx)$/,
      /^pages\/pages\.jsonl$/,
    ]) {
      if (![...entries.keys()].some((name) => needed.test(name))) faults.push(`nothing is like ${needed}`);
    }
    for (const { path, hash, bytes } of resources) {
      const found = entries.get(path);
      if (found === undefined) faults.push(`${path}: is not there`);
      else if (sha256(found) !== hash || found.length !== bytes) faults.push(`${path}: is not what the package says`);
    }
    const listed = new Set([...resources.map(({ path }) => path), "datapackage.json", DIGEST]);
    for (const name of entries.keys()) if (!listed.has(name)) faults.push(`${name}: is not listed`);
    const digest = json(DIGEST) as { path: string; hash: string; signedData: Signed };
    const hash = sha256(entries.get("datapackage.json") as Buffer);
    if (digest.path !== "datapackage.json" || digest.hash !== hash) faults.push(`${DIGEST}: is of another package`);
    if (digest.signedData.hash !== hash) faults.push(`${DIGEST}: another package was signed`);
    if (digest.signedData.created !== created) faults.push(`${DIGEST}: was signed at another time`);
    if (!(await isSigned(digest.signedData))) faults.push(`${DIGEST}: the signature is not of that key`);
    return faults;
  } catch (error) {
    return [`cannot be read: ${String(error)}`];
  }
}
