/** The key id and secret that the embedded services take, other ones with each start. */
import { randomBytes } from "node:crypto";

export interface EmbeddedCredentials {
  accessKeyId: string;
  secretAccessKey: string;
}

/** In the form of AWS's: clients and tools check it. */
export const newCredentials = (): EmbeddedCredentials => ({
  accessKeyId: `LOCAL${randomBytes(12).toString("hex").toUpperCase()}`,
  secretAccessKey: randomBytes(30).toString("base64url"),
});

/** Those that an environment tells. */
export const credentialsIn = (env: Readonly<Record<string, string | undefined>>): EmbeddedCredentials => ({
  accessKeyId: env["AWS_ACCESS_KEY_ID"] ?? "",
  secretAccessKey: env["AWS_SECRET_ACCESS_KEY"] ?? "",
});
