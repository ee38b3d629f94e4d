import { GetSecretValueCommand, SecretsManagerClient } from "@aws-sdk/client-secrets-manager";
import { mockClient } from "aws-sdk-client-mock";
import { expect, test } from "vitest";
import { readPassword } from "../../../../shared/platform/database/database-secret.ts";

// there is no Secrets Manager among the embedded services
const client = new SecretsManagerClient({ region: "eu-central-1" });
const secrets = mockClient(client);

test("reads the password out of the secret that RDS keeps", async () => {
  const SecretString = JSON.stringify({ username: "strandline", password: "p:@/ss", host: "db" });
  secrets.on(GetSecretValueCommand, { SecretId: "arn:secret" }).resolves({ SecretString });
  expect(await readPassword("arn:secret", client)).toBe("p:@/ss");
});

test.each([
  ["text that is not JSON", { SecretString: "hunter2" }],
  ["a secret without a password", { SecretString: JSON.stringify({ username: "hunter2" }) }],
  ["a binary secret", {}],
])("%s is a retryable fault that quotes nothing of it", async (_what, answer) => {
  secrets.on(GetSecretValueCommand).resolves(answer);
  const error = await readPassword("arn:secret", client).catch((fault: unknown) => fault);
  expect(error).toMatchObject({ name: "RetryableError", code: "DATABASE_SECRET_UNREADABLE" });
  expect(JSON.stringify(error, Object.getOwnPropertyNames(error))).not.toContain("hunter2");
});

test("a refusal by Secrets Manager is a retryable fault that names it", async () => {
  secrets.on(GetSecretValueCommand).rejects(Object.assign(new Error("no"), { name: "AccessDeniedException" }));
  await expect(readPassword("arn:secret", client)).rejects.toThrow(/AccessDeniedException/);
});
