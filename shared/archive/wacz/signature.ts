/**
 * Anonymous signatures of WACZ files, as "WACZ Signing and Verification" 0.1.0 has them: ECDSA over the hash of
 * datapackage.json, P-384 with SHA-256, both halves one behind the other, since that is what players verify.
 */
import { createPrivateKey, createPublicKey, generateKeyPairSync, sign } from "node:crypto";
import type { Sql } from "../../platform/database/database.ts";
import type { SignedData } from "../wacz-file/signed-data.ts";

const VERSION = "0.1.0";
const ENCODING = { dsaEncoding: "ieee-p1363" } as const;

/** @param key PEM */
export function signHash(
  key: string,
  hash: string,
  { created, software }: { created: Date; software: string },
): SignedData & { version: string } {
  const signature = sign("sha256", Buffer.from(hash), { key: createPrivateKey(key), ...ENCODING });
  const publicKey = createPublicKey(key).export({ type: "spki", format: "der" });
  return {
    hash,
    signature: signature.toString("base64"),
    publicKey: publicKey.toString("base64"),
    created: created.toISOString(),
    software,
    version: VERSION,
  };
}

/** The key of this deployment, PEM: made when it is first asked for, and then kept. */
export async function signingKey(sql: Sql): Promise<string> {
  const known = await storedKey(sql);
  if (known !== undefined) return known;
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-384" });
  await sql`
    insert into signing_keys (id, private_key) values (1, ${privateKey.export({ type: "pkcs8", format: "pem" }) as string})
    on conflict do nothing`;
  return (await storedKey(sql)) as string;
}

async function storedKey(sql: Sql): Promise<string | undefined> {
  const [row] = await sql<{ key: string }[]>`select private_key as key from signing_keys where id = 1`;
  return row?.key;
}
