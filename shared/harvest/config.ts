/**
 * The harvester's configuration file: YAML as the reference has it. Keys stay in the environment or in Secrets Manager.
 */
import { readFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { parse } from "yaml";
import { z } from "zod";
import { sha256 } from "../platform/ids.ts";
import { LLM_PROVIDERS } from "./llm/dialect.ts";
import { PROVIDER_NAMES, type ProviderName, type RemoteProvider } from "./providers/registry.ts";

/** The variables of the cloud account are no keys of providers. */
const environmentName = z
  .string()
  .regex(/^[A-Z][A-Z0-9_]*$/, "not the name of an environment variable")
  .regex(/^(?!AWS_)/, "a variable of the cloud account is no key of a provider");
/** Endpoints travel in messages, and keys do not. */
const endpoint = z
  .url({ protocol: /^https?$/ })
  .refine((text) => !holdsSecret(text), "holds credentials: name the key with api_key_env")
  .transform((text) => text.replace(/\/+$/, ""));
const providerName = z.enum(PROVIDER_NAMES);

const providerSchema = z.strictObject({
  endpoint: endpoint.optional(),
  api_key_env: environmentName.optional(),
  /** Google: the variable that holds the id of the search engine. */
  engine_id_env: environmentName.optional(),
});

function holdsSecret(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { username, password, searchParams } = new URL(text);
  return username + password !== "" || [...searchParams.keys()].some((name) => /key|token|secret|password/i.test(name));
}

const configSchema = z.strictObject({
  search: z.strictObject({
    /** `auto`: all of `cascade_order` at once; else only this one. */
    provider: z.enum(["auto", ...PROVIDER_NAMES]).default("auto"),
    cascade_order: z
      .array(providerName)
      .min(1)
      .refine((names) => new Set(names).size === names.length, "names a provider twice"),
    default_options: z
      .strictObject({
        maxResults: z.int().min(1).max(100).default(10),
        lang: z
          .string()
          .regex(/^[a-z]{2}$/, "not a two-letter code")
          .optional(),
      })
      .prefault({}),
    /** For all providers together, and for one request of one of them. */
    deadline_ms: z.int().min(100).max(20_000).default(2500),
    provider_timeout_ms: z.int().min(100).max(20_000).default(3000),
    providers: z.partialRecord(providerName, providerSchema).default({}),
  }),
  llm: z.strictObject({
    provider: z.enum(LLM_PROVIDERS),
    model: z.string().min(1),
    api_key_env: environmentName.optional(),
    endpoint: endpoint.optional(),
    temperature: z.number().min(0).max(2).default(0),
    max_tokens: z.int().min(16).max(4096).default(512),
    timeout_ms: z.int().min(100).max(5000).default(5000),
    /** Relative to the configuration file. */
    prompt_file: z.string().min(1),
  }),
});

export type HarvestConfig = z.infer<typeof configSchema>;

/** Those that a run asks. */
export const askedProviders = ({ provider, cascade_order }: HarvestConfig["search"]): readonly ProviderName[] =>
  provider === "auto" ? cascade_order : [provider];

/** What is read of a file whose other fields may be faulty, so that every fault is named at once. */
const partlySchema = z
  .object({
    search: z
      .object({
        provider: z.unknown(),
        cascade_order: z.array(z.unknown()).catch([]),
        providers: z
          .object({ searxng: z.object({ endpoint: z.unknown() }).partial().catch({}) })
          .partial()
          .catch({}),
      })
      .partial()
      .catch({}),
    llm: z
      .object({
        provider: z.unknown(),
        endpoint: z.unknown(),
        prompt_file: z.string().min(1).optional().catch(undefined),
      })
      .partial()
      .catch({}),
  })
  .partial()
  .catch({});

/** Faults of fields together. */
function* missingAddresses({ search = {}, llm = {} }: z.infer<typeof partlySchema>): Generator<string> {
  const { provider, cascade_order = [], providers = {} } = search;
  const asked = PROVIDER_NAMES.some((name) => name === provider) ? [provider] : cascade_order;
  if (asked.includes("searxng") && providers.searxng?.endpoint === undefined) {
    yield "search.providers.searxng.endpoint: SearXNG has no address of its own: name it";
  }
  if (llm.provider === "local" && llm.endpoint === undefined) {
    yield "llm.endpoint: a local model has no address of its own: name it";
  }
}

/**
 * The variables that the reference names, for the provider's own address: another one gets a key only where the file
 * says so.
 */
const KEY_VARIABLES = {
  serper: "SERPER_KEY",
  google: "GOOGLE_API_KEY",
  brave: "BRAVE_KEY",
  searxng: null,
  openai: "OPENAI_API_KEY",
  anthropic: "ANTHROPIC_API_KEY",
  gemini: "GEMINI_API_KEY",
  local: null,
} as const;
const ENGINE_VARIABLE = "GOOGLE_CSE_ID";

/** Where a provider is asked, and the names of what it is asked with; null: its own address, no key. */
export function providerAccess({ providers }: HarvestConfig["search"], name: RemoteProvider) {
  const { endpoint = null, api_key_env, engine_id_env } = providers[name] ?? {};
  const own = endpoint === null;
  return {
    name,
    endpoint,
    apiKeyEnv: api_key_env ?? (own ? KEY_VARIABLES[name] : null),
    engineIdEnv: engine_id_env ?? (own && name === "google" ? ENGINE_VARIABLE : null),
  };
}

/** The variable of the model's key; null: there is none. */
export const modelKey = ({ provider, endpoint, api_key_env }: HarvestConfig["llm"]): string | null =>
  api_key_env ?? (endpoint === undefined ? KEY_VARIABLES[provider] : null);

/** Of the prompt, in bytes: it travels in a message, which SQS takes up to 1 MiB. */
const MAX_PROMPT_BYTES = 100_000;

export interface LoadedConfig {
  config: HarvestConfig;
  prompt: string;
  /** SHA-256 of the prompt, hex: which words a query was rewritten with. */
  promptHash: string;
}

export class HarvestConfigError extends Error {
  constructor(file: string, reason: string) {
    super(`${file}: ${reason}`);
    this.name = "HarvestConfigError";
  }
}

/**
 * Reads both files anew, so that a prompt can be exchanged while the system runs.
 * @throws HarvestConfigError with every fault
 */
export async function loadHarvestConfig(file: string): Promise<LoadedConfig> {
  const raw = await parseYaml(file);
  const parsed = configSchema.safeParse(raw);
  const partly = partlySchema.parse(raw);
  const faults = (parsed.error?.issues ?? []).map(({ path, message }) => `${path.join(".") || "the file"}: ${message}`);
  faults.push(...missingAddresses(partly));
  const { prompt, fault } = await readPrompt(file, partly.llm?.prompt_file);
  if (fault !== undefined) faults.push(fault);
  if (!parsed.success || faults.length > 0) throw new HarvestConfigError(file, faults.join("; "));
  return { config: parsed.data, prompt, promptHash: sha256(prompt).toString("hex") };
}

/** @param name relative to the configuration file; undefined where that names none, which is a fault of its own */
async function readPrompt(file: string, name: string | undefined): Promise<{ prompt: string; fault?: string }> {
  if (name === undefined) return { prompt: "" };
  const promptFile = resolve(dirname(file), name);
  try {
    const prompt = await readFile(promptFile, "utf8");
    const size = Buffer.byteLength(prompt);
    if (prompt.trim() === "") return { prompt, fault: `${promptFile}: the prompt is empty` };
    if (size <= MAX_PROMPT_BYTES) return { prompt };
    return { prompt, fault: `${promptFile}: the prompt has ${size} bytes; ${MAX_PROMPT_BYTES} are the most` };
  } catch (error) {
    return { prompt: "", fault: `${promptFile}: cannot be read${codeOf(error)}` };
  }
}

const codeOf = (error: unknown): string =>
  error instanceof Error && "code" in error ? ` (${String(error.code)})` : "";

async function parseYaml(file: string): Promise<unknown> {
  const text = await readFile(file, "utf8").catch((error: unknown) => {
    throw new HarvestConfigError(file, `cannot be read${codeOf(error)}`);
  });
  try {
    return parse(text);
  } catch (error) {
    // further lines quote the file, which might hold what it should not
    const [reason] = (error instanceof Error ? error.message : String(error)).split("\n");
    throw new HarvestConfigError(file, `is not YAML: ${reason}`);
  }
}
