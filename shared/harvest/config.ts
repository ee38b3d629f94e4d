/** The harvester's configuration file: YAML as the reference has it. Keys stay in the environment or in Secrets Manager. */
import { readFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { parse } from "yaml";
import { z } from "zod";
import { sha256 } from "../platform/ids.ts";
import { LLM_PROVIDERS } from "./llm/dialect.ts";
import { PROVIDER_NAMES } from "./providers/registry.ts";

const environmentName = z.string().regex(/^[A-Z][A-Z0-9_]*$/, "not the name of an environment variable");
const endpoint = z.url({ protocol: /^https?$/ }).transform((text) => text.replace(/\/+$/, ""));
const providerName = z.enum(PROVIDER_NAMES);

const providerSchema = z.strictObject({
  endpoint: endpoint.optional(),
  api_key_env: environmentName.optional(),
  /** Google: the variable that holds the id of the search engine. */
  engine_id_env: environmentName.optional(),
});

export const harvestConfigSchema = z.strictObject({
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
export type HarvestConfig = z.infer<typeof harvestConfigSchema>;

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
    const faults = parsed.error.issues.map(({ path, message }) => `${path.join(".")}: ${message}`);
    throw new HarvestConfigError(file, faults.join("; "));
  }
  const promptFile = resolve(dirname(file), parsed.data.llm.prompt_file);
  const prompt = await read(promptFile);
  if (prompt.trim() === "") throw new HarvestConfigError(promptFile, "the prompt is empty");
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
