/** Signs deliveries, as docs/guide/webhooks.md tells receivers to verify them. */
import { createHmac } from "node:crypto";

export const SIGNATURE_HEADER = "strandline-signature";

/**
 * HMAC-SHA256 over `timestamp.body`, once for each secret that is valid: while secrets rotate there are two.
 * @param timestamp of the attempt, in seconds since 1970
 * @param body exactly as sent
 * @returns e.g. `t=1767225600,v1=5f2b…,v1=9c41…`; undefined without a secret
 */
export function signatureOf(secrets: readonly string[], timestamp: number, body: string): string | undefined {
  if (secrets.length === 0) return undefined;
  const signatures = secrets.map((secret) =>
    createHmac("sha256", secret).update(`${timestamp}.`).update(body, "utf8").digest("hex"),
  );
  return [`t=${timestamp}`, ...signatures.map((signature) => `v1=${signature}`)].join(",");
}
