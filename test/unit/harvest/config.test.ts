import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { HarvestConfigError, loadHarvestConfig, modelKey, providerAccess } from "../../../shared/harvest/config.ts";

const SHIPPED = join(import.meta.dirname, "../../../functions/harvest-api/config/harvest.yaml");
const LLM = { provider: "openai", model: "m", prompt_file: "prompt.txt" };
const SEARCH = { cascade_order: ["serper"] };

/** @param file YAML, or an object as JSON, which is YAML */
async function load(file: unknown, prompt: string | undefined = "Rewrite.") {
  const folder = await mkdtemp(join(tmpdir(), "strandline-config-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  if (prompt !== "") await writeFile(join(folder, "prompt.txt"), prompt);
  await writeFile(join(folder, "harvest.yaml"), typeof file === "string" ? file : JSON.stringify(file));
  return await loadHarvestConfig(join(folder, "harvest.yaml"));
}

it("the file that is shipped is valid, and its defaults are those of the reference", async () => {
  const { config, prompt, promptHash } = await loadHarvestConfig(SHIPPED);
  expect(config.search).toMatchObject({
    provider: "auto",
    cascade_order: ["serper", "google", "brave"],
    default_options: { maxResults: 10, lang: "en" },
  });
  expect(config.llm).toMatchObject({ temperature: 0, max_tokens: 512, timeout_ms: 5000 });
  expect(prompt).toContain("{LAST_MONTH_END}");
  expect(promptHash).toMatch(/^[0-9a-f]{64}$/);
});

it("what is left out has a default", async () => {
  const { config } = await load({ search: SEARCH, llm: LLM });
  expect(config.search).toMatchObject({ provider: "auto", deadline_ms: 2500, provider_timeout_ms: 3000 });
  expect(config.search.default_options).toEqual({ maxResults: 10 });
});

it("the file of the reference, which names no key of a search provider, takes the variables that the reference names", async () => {
  const { config } = await load(`
search:
  provider: "auto"
  cascade_order: ["serper","google","brave"]
  default_options:
    maxResults: 10
    lang: "en"
llm:
  provider: "openai"
  model: "gpt-4.1-mini"
  api_key_env: "OPENAI_API_KEY"
  endpoint: "https://api.openai.com/v1/chat/completions"
  temperature: 0.0
  max_tokens: 512
  prompt_file: "prompt.txt"
`);
  expect(config.search.cascade_order.map((name) => providerAccess(config.search, name as "serper"))).toEqual([
    { name: "serper", endpoint: null, apiKeyEnv: "SERPER_KEY", engineIdEnv: null },
    { name: "google", endpoint: null, apiKeyEnv: "GOOGLE_API_KEY", engineIdEnv: "GOOGLE_CSE_ID" },
    { name: "brave", endpoint: null, apiKeyEnv: "BRAVE_KEY", engineIdEnv: null },
  ]);
});

it.each([
  ["openai", "OPENAI_API_KEY"],
  ["anthropic", "ANTHROPIC_API_KEY"],
  ["gemini", "GEMINI_API_KEY"],
])("%s is asked with %s where the file names no other", async (provider, variable) => {
  const access = async (llm: object) => modelKey((await load({ search: SEARCH, llm: { ...LLM, ...llm } })).config.llm);
  expect(await access({ provider })).toBe(variable);
  expect(await access({ provider, api_key_env: "MY_KEY" })).toBe("MY_KEY");
  expect(await access({ provider, endpoint: "http://models.internal/" })).toBeNull();
});

it("a key goes to another address than the provider's own only where the file says so", async () => {
  const providers = {
    serper: { endpoint: "http://serper.internal/search" },
    brave: { endpoint: "http://brave.internal/", api_key_env: "MY_BRAVE" },
    searxng: { endpoint: "http://searxng.internal" },
  };
  const { config } = await load({ search: { cascade_order: ["serper", "brave", "searxng"], providers }, llm: LLM });
  const keys = (["serper", "brave", "searxng"] as const).map((name) => providerAccess(config.search, name).apiKeyEnv);
  expect(keys).toEqual([null, "MY_BRAVE", null]);
});

it("one provider can be forced that the cascade does not name", async () => {
  const { config } = await load({ search: { ...SEARCH, provider: "strandline" }, llm: LLM });
  expect(config.search.provider).toBe("strandline");
});

it("an endpoint may have parameters that are no keys", async () => {
  const endpoint = "https://models.example/v1/chat?api-version=2024-10-21";
  expect((await load({ search: SEARCH, llm: { ...LLM, endpoint } })).config.llm.endpoint).toBe(endpoint);
});

const search = (changes: object) => ({ search: { ...SEARCH, ...changes }, llm: LLM });
const llm = (changes: object) => ({ search: SEARCH, llm: { ...LLM, ...changes } });

it.each<[string, unknown, RegExp]>([
  ["no YAML", "search: [", /harvest\.yaml: is not YAML/],
  ["a key twice", "search: {}\nsearch: {}", /is not YAML: Map keys must be unique/],
  ["nothing", "", /the file: /],
  ["a list", "[1]", /the file: /],
  ["an unknown key", { search: SEARCH, llm: LLM, harvest: 1 }, /the file: Unrecognized key: "harvest"/],
  ["an unknown key further down", search({ cascade: [] }), /search: Unrecognized key: "cascade"/],
  ["a key in the file", search({ providers: { serper: { api_key: "k" } } }), /search\.providers\.serper: Unrecognized/],
  ["a wrong type", search({ deadline_ms: "2500" }), /search\.deadline_ms: /],
  ["an unknown provider", search({ cascade_order: ["bing"] }), /search\.cascade_order\.0: /],
  [
    "a provider twice",
    search({ cascade_order: ["serper", "serper"] }),
    /search\.cascade_order: names a provider twice/,
  ],
  ["no provider", search({ cascade_order: [] }), /search\.cascade_order: /],
  ["an unknown provider forced", search({ provider: "bing" }), /search\.provider: /],
  ["too long a model timeout", llm({ timeout_ms: 6000 }), /llm\.timeout_ms: /],
  ["no prompt file", llm({ prompt_file: undefined }), /llm\.prompt_file: /],
  ["a prompt that is not there", llm({ prompt_file: "other.txt" }), /other\.txt: cannot be read/],
  ["an endpoint that is no URL", llm({ endpoint: "models.example" }), /llm\.endpoint: /],
  ["an endpoint of another scheme", llm({ endpoint: "file:///etc/passwd" }), /llm\.endpoint: /],
  ["a password in an endpoint", llm({ endpoint: "https://me:pw@models.example/" }), /llm\.endpoint: holds credentials/],
  [
    "a key in an endpoint",
    search({ providers: { google: { endpoint: "https://g.example/?key=abc" } } }),
    /search\.providers\.google\.endpoint: holds credentials/,
  ],
  ["a variable that is none", llm({ api_key_env: "sk-1234" }), /llm\.api_key_env: not the name of an environment/],
  ["a variable of the account", llm({ api_key_env: "AWS_SECRET_ACCESS_KEY" }), /llm\.api_key_env: .*cloud account/],
  ["a local model without address", llm({ provider: "local" }), /llm\.endpoint: .*name it/],
  [
    "SearXNG without address",
    search({ cascade_order: ["serper", "searxng"] }),
    /search\.providers\.searxng\.endpoint: .*name it/,
  ],
])("%s is named with its path", async (_what, file, reason) => {
  const refused = load(file);
  await expect(refused).rejects.toThrow(HarvestConfigError);
  await expect(refused).rejects.toThrow(reason);
  await expect(refused).rejects.not.toThrow(/:pw@|abc|sk-1234/);
});

it("every fault is named at once: wrong values, missing addresses, the prompt", async () => {
  const file = {
    search: { provider: "bing", cascade_order: ["searxng", "serpre"], deadline_ms: 1, colour: "red" },
    llm: { provider: "local", model: "", prompt_file: "other.txt", temperature: "cold" },
    more: 1,
  };
  const refused = await load(file).then(
    () => "",
    (error: unknown) => String(error),
  );
  for (const path of [
    "search.provider",
    "search.cascade_order.1",
    "search.deadline_ms",
    "search.providers.searxng.endpoint",
    "llm.model",
    "llm.temperature",
    "llm.endpoint",
  ]) {
    expect(refused).toContain(`${path}: `);
  }
  expect(refused).toMatch(/"colour"/);
  expect(refused).toMatch(/"more"/);
  expect(refused).toMatch(/other\.txt: cannot be read/);
});

it("a file that is no YAML is not quoted: it might hold a key", async () => {
  const refused = load('search: { api_key: "sk-1234567890"\nllm: [');
  await expect(refused).rejects.toThrow(/is not YAML: .* at line \d+/);
  await expect(refused).rejects.not.toThrow(/sk-1234/);
});

it.each([
  ["empty", " \n", /prompt\.txt: the prompt is empty/],
  ["2 MB", "x".repeat(2_000_000), /prompt\.txt: the prompt has 2000000 bytes; 100000 are the most/],
])("a prompt that is %s is named", async (_what, prompt, reason) => {
  await expect(load({ search: SEARCH, llm: LLM }, prompt)).rejects.toThrow(reason);
});
