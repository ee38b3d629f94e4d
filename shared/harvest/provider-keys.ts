/** Keys of providers by the names of their variables: from the environment, or from one secret on AWS. */
import { GetSecretValueCommand, type SecretsManagerClient } from "@aws-sdk/client-secrets-manager";
import { z } from "zod";
import { secretsClient } from "../platform/aws/clients.ts";
import type { Clock } from "../platform/clock.ts";
import { RetryableError } from "../platform/errors.ts";

export interface ProviderKeysOptions {
  env: Record<string, string | undefined>;
  /** A secret that holds one JSON object: variable → key. Empty: there is none. */
  secretArn: string;
  clock: Clock;
  client?: () => SecretsManagerClient;
}

/** So long a key that was exchanged may still be used, in ms. */
const KEEP_MS = 300_000;
const secretSchema = z.record(z.string(), z.string());

/**
 * Without white space around it, e.g. the line's end of a file.
 * @returns the key of that name, undefined where there is none; throws RetryableError KEYS_UNREADABLE
 */
export function createProviderKeys({
  env,
  secretArn,
  clock,
  client = secretsClient,
}: ProviderKeysOptions): (name: string) => Promise<string | undefined> {
  let held: { keys: Promise<Record<string, string>>; readAt: number } | undefined;

  const read = async (): Promise<Record<string, string>> => {
    try {
      const { SecretString } = await client().send(new GetSecretValueCommand({ SecretId: secretArn }));
      return secretSchema.parse(JSON.parse(SecretString ?? ""));
    } catch (cause) {
      // the cause may quote the secret's text: only its name goes on
      const name = cause instanceof Error ? cause.name : "unknown fault";
      const fault = `could not be read (${name})`;
      const message = `The secret of the provider keys ${fault}: it must hold one JSON object of texts`;
      throw new RetryableError(message, { code: "KEYS_UNREADABLE" });
    }
  };

  return async (name) => {
    const own = Object.hasOwn(env, name) ? env[name]?.trim() : undefined;
    if (own !== undefined && own !== "") return own;
    if (secretArn === "") return undefined;
    if (held === undefined || clock.now() - held.readAt > KEEP_MS) {
      const keys = read();
      held = { keys, readAt: clock.now() };
      // a failure is not kept
      keys.catch(() => {
        if (held?.keys === keys) held = undefined;
      });
    }
    const keys = await held.keys;
    const value = Object.hasOwn(keys, name) ? keys[name]?.trim() : undefined;
    return value === "" ? undefined : value;
  };
}
