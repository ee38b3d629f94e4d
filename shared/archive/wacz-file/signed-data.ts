/**
 * Signatures of WACZ files, as "WACZ Signing and Verification" 0.1.0 has them: over the hash of datapackage.json, by a
 * key that nobody vouches for, or by the key of a domain's certificate.
 */
import { createPublicKey, type KeyObject, verify, X509Certificate } from "node:crypto";
import { rootCertificates } from "node:tls";
import { z } from "zod";

export const signedDataSchema = z.object({
  /** `sha256:` and hex. */
  hash: z.string(),
  /** Base64. */
  signature: z.string(),
  /** Base64 of the SPKI structure. */
  publicKey: z.string().optional(),
  domain: z.string().max(300).optional(),
  /** PEM: of the domain, and of those who vouch for it. */
  domainCert: z.string().optional(),
  created: z.string().max(100).optional(),
  software: z.string().max(300).optional(),
});
export type SignedData = z.infer<typeof signedDataSchema>;

export interface PackageSignature {
  /** `untrusted`: of a domain whose certificate leads to no authority that is known. */
  outcome: "valid" | "invalid" | "untrusted" | "unsigned";
  /** Why it is not valid. */
  reason: string | null;
  /** The domain, or else the public key, as the file has it. */
  signer: string | null;
  /** As the signer says. */
  created: string | null;
}

/** Both halves behind each other as browsers write them, or the DER structure of OpenSSL. */
const ENCODINGS = ["ieee-p1363", "der"] as const;

export function isSignatureOf({ hash, signature, publicKey }: { hash: string; signature: string; publicKey: string }) {
  try {
    const key = createPublicKey({ key: Buffer.from(publicKey, "base64"), format: "der", type: "spki" });
    return isSignedBy(key, hash, signature);
  } catch {
    // no key, or none of this kind
    return false;
  }
}

const isSignedBy = (key: KeyObject, hash: string, signature: string): boolean =>
  ENCODINGS.some((dsaEncoding) =>
    verify("sha256", Buffer.from(hash), { key, dsaEncoding }, Buffer.from(signature, "base64")),
  );

/** @param hash of the very bytes of datapackage.json */
export function checkSignature(signed: SignedData, hash: string): PackageSignature {
  const { publicKey, domain, domainCert, created } = signed;
  const about = { signer: domain ?? publicKey?.slice(0, 2000) ?? null, created: created ?? null };
  const invalid = (reason: string): PackageSignature => ({ outcome: "invalid", reason, ...about });
  if (signed.hash !== hash) return invalid("datapackage.json is not what was signed");
  if (domainCert === undefined) {
    if (publicKey === undefined) return invalid("it names neither a key nor a certificate");
    if (!isSignatureOf({ hash, signature: signed.signature, publicKey })) return invalid("it is not one by its key");
    return { outcome: "valid", reason: null, ...about };
  }
  try {
    const [leaf, ...others] = certificatesOf(domainCert);
    if (leaf === undefined || !isSignedBy(leaf.publicKey, hash, signed.signature)) {
      return invalid("it is not one by the key of its certificate");
    }
    if (domain === undefined || leaf.checkHost(domain) === undefined) {
      return invalid("its certificate is not one of its domain");
    }
    const time = Date.parse(created ?? "");
    const isOfTime = time >= Date.parse(leaf.validFrom) && time <= Date.parse(leaf.validTo);
    if (!isOfTime) return invalid("its certificate does not hold for the time at which it says that it was made");
    if (isVouchedFor([leaf, ...others])) return { outcome: "valid", reason: null, ...about };
    return { outcome: "untrusted", reason: "no authority that is known vouches for its certificate", ...about };
  } catch {
    return invalid("its certificate cannot be read");
  }
}

const MOST_CERTIFICATES = 10;

const certificatesOf = (pem: string): X509Certificate[] =>
  (pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [])
    .slice(0, MOST_CERTIFICATES)
    .map((each) => new X509Certificate(each));

function isVouchedFor(chain: readonly X509Certificate[]): boolean {
  for (const [index, certificate] of chain.entries()) {
    const issuer = rootCertificates
      .map((pem) => new X509Certificate(pem))
      .find((root) => certificate.checkIssued(root) && certificate.verify(root.publicKey));
    if (issuer !== undefined) return true;
    const next = chain[index + 1];
    if (next === undefined || !next.ca || !certificate.checkIssued(next) || !certificate.verify(next.publicKey)) break;
  }
  return false;
}
