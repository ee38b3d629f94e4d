/**
 * What RDS takes in place of a password where the user of the database is one of IAM: a signed request that is never
 * sent, see https://docs.aws.amazon.com/AmazonRDS/latest/AuroraUserGuide/UsingWithRDS.IAMDBAuth.html. It is made here,
 * without a call.
 */
import { SignatureV4 } from "@smithy/signature-v4";
import { environmentCredentials } from "../aws/environment-credentials.ts";
import { Sha256 } from "../aws/sha256.ts";

/** So long it opens connections; one that is open stays so. */
const LIFETIME_S = 900;
const POSTGRES_PORT = "5432";

/**
 * @param url of the database, with its user
 * @param env with the region and the credentials of the function
 */
export async function createAuthToken(
  url: string,
  env: Readonly<Record<string, string | undefined>> = process.env,
  at: Date = new Date(),
): Promise<string> {
  const { hostname, port, username } = new URL(url);
  const host = `${hostname}:${port || POSTGRES_PORT}`;
  const { AWS_REGION: region = "" } = env;
  const credentials = environmentCredentials(env);
  const signer = new SignatureV4({ service: "rds-db", region, sha256: Sha256, credentials });
  const request = {
    method: "GET",
    protocol: "https:",
    hostname,
    path: "/",
    query: { Action: "connect", DBUser: decodeURIComponent(username) },
    headers: { host },
  };
  const { query = {} } = await signer.presign(request, { expiresIn: LIFETIME_S, signingDate: at });
  const pairs = Object.entries(query).map(([name, value]) => `${encoded(name)}=${encoded(String(value))}`);
  return `${host}/?${pairs.join("&")}`;
}

/** As RFC 3986 has it, which signatures are made of. */
const encoded = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);
