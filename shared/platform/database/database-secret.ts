/** The database password on AWS: it lives in Secrets Manager, never in the environment of a function. */
import { GetSecretValueCommand, type SecretsManagerClient } from "@aws-sdk/client-secrets-manager";
import { z } from "zod";
import { secretsClient } from "../aws/clients.ts";
import { RetryableError } from "../errors.ts";

/** What RDS writes into the secret, as far as it is needed. */
const secretSchema = z.object({ password: z.string().min(1) });

/** @throws RetryableError DATABASE_SECRET_UNREADABLE */
export async function readPassword(secretArn: string, client: SecretsManagerClient = secretsClient()): Promise<string> {
  try {
    const { SecretString } = await client.send(new GetSecretValueCommand({ SecretId: secretArn }));
    return secretSchema.parse(JSON.parse(SecretString ?? "")).password;
  } catch (cause) {
    // the cause may quote the secret's text where that is not JSON: only its name goes on
    const name = cause instanceof Error ? cause.name : "unknown fault";
    throw new RetryableError(`The database secret could not be read (${name}): check that the function may read it`, {
      code: "DATABASE_SECRET_UNREADABLE",
    });
  }
}
