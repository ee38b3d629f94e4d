import { GetSecretValueCommand, SecretsManagerClient } from "@aws-sdk/client-secrets-manager";
import { mockClient } from "aws-sdk-client-mock";
import { beforeEach, expect, it } from "vitest";
import { createProviderKeys, type ProviderKeysOptions } from "../../../shared/harvest/provider-keys.ts";

const client = new SecretsManagerClient({ region: "us-east-1" });
const secrets = mockClient(client);
let now = 0;

beforeEach(() => {
  secrets.reset();
  now = 0;
});

const providerKeys = (changes: Partial<ProviderKeysOptions> = {}) =>
  createProviderKeys({
    env: {},
    secretArn: "arn:secret",
    clock: { now: () => now, sleep: async () => undefined },
    client: () => client,
    ...changes,
  });
const holds = (value: unknown) =>
  secrets
    .on(GetSecretValueCommand)
    .resolves({ SecretString: typeof value === "string" ? value : JSON.stringify(value) });
const reads = () => secrets.commandCalls(GetSecretValueCommand).length;

it("takes the environment first, then the secret, which it reads once for all keys", async () => {
  holds({ SERPER_KEY: "from the secret", BRAVE_KEY: "b" });
  const key = providerKeys({ env: { SERPER_KEY: "from the environment" } });
  expect(await Promise.all([key("SERPER_KEY"), key("BRAVE_KEY"), key("BRAVE_KEY")])).toEqual([
    "from the environment",
    "b",
    "b",
  ]);
  expect(reads()).toBe(1);
});

it("takes white space for no part of a key, and an empty one for none", async () => {
  holds({ A: "a\n", B: " \n", C: "" });
  const key = providerKeys({ env: { D: "d\r\n", E: " " } });
  expect(await Promise.all(["A", "B", "C", "D", "E", "F"].map(key))).toEqual([
    "a",
    undefined,
    undefined,
    "d",
    undefined,
    undefined,
  ]);
});

it("knows no key by a name that every object has", async () => {
  holds({});
  const key = providerKeys();
  expect([await key("constructor"), await key("__proto__")]).toEqual([undefined, undefined]);
});

it("reads a key that was exchanged after five minutes", async () => {
  holds({ A: "old" });
  const key = providerKeys();
  expect(await key("A")).toBe("old");
  holds({ A: "new" });
  now = 299_000;
  expect(await key("A")).toBe("old");
  now = 301_000;
  expect(await key("A")).toBe("new");
});

it("does not keep a failure", async () => {
  secrets.on(GetSecretValueCommand).rejectsOnce(new Error("throttled")).resolves({ SecretString: '{"A":"a"}' });
  const key = providerKeys();
  await expect(key("A")).rejects.toMatchObject({ name: "RetryableError", code: "KEYS_UNREADABLE" });
  expect(await key("A")).toBe("a");
});

it.each([
  ["no JSON", "sk-very-secret"],
  ["a list", '["sk-very-secret"]'],
  ["a number", '{"A":"sk-very-secret","B":1}'],
  ["an object", '{"A":{"key":"sk-very-secret"}}'],
  ["nothing", ""],
])("says that the secret holds %s, and nothing of it", async (_what, value) => {
  holds(value);
  const failed = await providerKeys()("A").catch((error: unknown) => error as Error);
  expect(String(failed)).toMatch(/must hold one JSON object of texts/);
  expect(JSON.stringify([String(failed), failed, (failed as Error).stack, (failed as Error).cause])).not.toContain(
    "sk-very-secret",
  );
});

it("asks nobody where there is no secret", async () => {
  expect(await providerKeys({ secretArn: "" })("A")).toBeUndefined();
  expect(reads()).toBe(0);
});
