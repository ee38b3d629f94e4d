/** The harvester's configuration file: YAML as the reference has it. Keys stay in the environment or in Secrets Manager. */
import { readFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { parse } from "yaml";
import { z } from "zod";
import { sha256 } from "../platform/ids.ts";
import { LLM_PROVIDERS } from "./llm/dialect.ts";
import { PROVIDER_NAMES, type ProviderName } from "./providers/registry.ts";

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
          .regex(/^[a-z]{2}$/)
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

const harvestConfigSchema = configSchema.superRefine(({ search, llm }, context) => {
  if (llm.provider === "local" && llm.endpoint === undefined) {
    const message = "a local model has no address of its own: name it";
    context.addIssue({ code: "custom", path: ["llm", "endpoint"], message });
  }
  if (askedProviders(search).includes("searxng") && search.providers.searxng?.endpoint === undefined) {
    const message = "SearXNG has no address of its own: name it";
    context.addIssue({ code: "custom", path: ["search", "providers", "searxng", "endpoint"], message });
  }
});
export type HarvestConfig = z.infer<typeof configSchema>;

/** Those that a run asks. */
export const askedProviders = ({ provider, cascade_order }: HarvestConfig["search"]): readonly ProviderName[] =>
  provider === "auto" ? cascade_order : [provider];

/** Of the prompt, in bytes: it travels in a message, which SQS takes up to 1 MiB. */
const MAX_PROMPT_BYTES = 100_000;

export interface LoadedConfig {
  config: HarvestConfig;
  prompt: string;
  /** SHA-256 of the prompt, hex: which words a query was rewritten with. */
  promptHash: string;
}

export class HarvestConfigError extends Error {
  constructor(file: string, reason: string, cause?: unknown) {
    super(`${file}: ${reason}`, cause === undefined ? undefined : { cause });
    this.name = "HarvestConfigError";
  }
}

/** Reads both files anew, so that a prompt can be exchanged while the system runs. @throws HarvestConfigError */
export async function loadHarvestConfig(file: string): Promise<LoadedConfig> {
  const parsed = harvestConfigSchema.safeParse(await parseYaml(file));
  if (!parsed.success) {
    const faults = parsed.error.issues.map(({ path, message }) => `${path.join(".") || "the file"}: ${message}`);
    throw new HarvestConfigError(file, faults.join("; "));
  }
  const promptFile = resolve(dirname(file), parsed.data.llm.prompt_file);
  const prompt = await read(promptFile);
  if (prompt.trim() === "") throw new HarvestConfigError(promptFile, "the prompt is empty");
  const size = Buffer.byteLength(prompt);
  if (size > MAX_PROMPT_BYTES) {
    throw new HarvestConfigError(promptFile, `the prompt has ${size} bytes; ${MAX_PROMPT_BYTES} are the most`);
  }
  return { config: parsed.data, prompt, promptHash: sha256(prompt).toString("hex") };
}

async function parseYaml(file: string): Promise<unknown> {
  const text = await read(file);
  try {
    return parse(text);
  } catch (cause) {
    throw new HarvestConfigError(file, `is not YAML: ${cause instanceof Error ? cause.message : String(cause)}`, cause);
  }
}

async function read(file: string): Promise<string> {
  try {
    return await readFile(file, "utf8");
  } catch (cause) {
    throw new HarvestConfigError(file, "cannot be read", cause);
  }
}
