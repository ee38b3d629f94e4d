/** A Strandline of its own whose search providers and model are doubles. */
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import postgres from "postgres";
import { type Instance, startInstance } from "../services/instance.ts";
import { chatCompletion, type ProviderDouble, providerDouble, RESULTS } from "../services/provider-doubles.ts";

const PROVIDERS = ["serper", "google", "brave", "searxng"] as const;
const SCHEMA = {
  keywords: ["AI regulation", "AI Act"],
  boolean: "OR",
  filters: { sites: [".eu"], date_after: "{LAST_WEEK_START}", date_before: "{LAST_WEEK_END}" },
};
/** In the environment of the process, and nowhere else. */
export const KEYS = {
  SERPER_KEY: "serper-secret",
  GOOGLE_API_KEY: "google-secret",
  GOOGLE_CSE_ID: "engine-1",
  BRAVE_KEY: "brave-secret",
  MODEL_KEY: "model-secret",
};

export interface Answer {
  status: number;
  // biome-ignore lint/suspicious/noExplicitAny: answers are compared, never trusted
  body: any;
}

export interface Harvest {
  instance: Instance;
  /** For another instance on the same state folder. */
  env: Record<string, string>;
  llm: ProviderDouble;
  doubles: Record<(typeof PROVIDERS)[number], ProviderDouble>;
  sql: postgres.Sql;
  /** Writes the configuration anew: parts of it, and the prompt. */
  configure(parts?: { search?: object; model?: object; prompt?: string }): Promise<void>;
  /** All doubles and the configuration as at the start. */
  reset(): Promise<void>;
  call(method: string, path: string, body?: unknown, apiKey?: string): Promise<Answer>;
  run(query?: string, options?: object): Promise<Answer>;
  /** Never asked before. */
  question(): string;
  /** Requests that providers have had. */
  asked(): number;
  /** Every line that a function has printed. */
  handlerLog(): Promise<string>;
  stop(): Promise<void>;
}

/** @param more of the environment */
export async function startHarvest(more: Record<string, string> = {}): Promise<Harvest> {
  const folder = await mkdtemp(join(tmpdir(), "strandline harvest "));
  const home = await mkdtemp(join(tmpdir(), "strandline instance "));
  const llm = await providerDouble(() => ({}));
  const [serper, google, brave, searxng] = await Promise.all(PROVIDERS.map(() => providerDouble(() => ({}))));
  const doubles = { serper, google, brave, searxng } as Harvest["doubles"];
  let questions = 0;

  const configure: Harvest["configure"] = async ({ search = {}, model = {}, prompt = "Rewrite." } = {}) => {
    const config = {
      search: {
        cascade_order: ["serper", "google", "brave"],
        // doubles answer at once, and a busy machine takes its time
        deadline_ms: 20_000,
        provider_timeout_ms: 20_000,
        providers: {
          serper: { endpoint: `${doubles.serper.url}/search`, api_key_env: "SERPER_KEY" },
          google: {
            endpoint: `${doubles.google.url}/customsearch/v1`,
            api_key_env: "GOOGLE_API_KEY",
            engine_id_env: "GOOGLE_CSE_ID",
          },
          brave: { endpoint: `${doubles.brave.url}/res/v1/web/search`, api_key_env: "BRAVE_KEY" },
          searxng: { endpoint: doubles.searxng.url },
        },
        ...search,
      },
      llm: {
        provider: "openai",
        model: "test-model",
        endpoint: `${llm.url}/v1/chat/completions`,
        api_key_env: "MODEL_KEY",
        prompt_file: "prompt.txt",
        ...model,
      },
    };
    await writeFile(join(folder, "prompt.txt"), prompt);
    // JSON is YAML
    await writeFile(join(folder, "harvest.yaml"), JSON.stringify(config));
  };
  const reset = async (): Promise<void> => {
    llm.answer = () => chatCompletion(JSON.stringify(SCHEMA));
    for (const name of PROVIDERS) {
      doubles[name].answer = () => RESULTS[name](`https://${name}.example/only`, "https://all.example/page");
      doubles[name].asked.length = 0;
    }
    llm.asked.length = 0;
    await configure();
  };
  await reset();
  const env = {
    HARVEST__CONFIG_FILE: join(folder, "harvest.yaml"),
    ACCESS__ALLOW_HOSTS: "127.0.0.1",
    EMBEDDER__PROVIDER: "none",
    ...KEYS,
    ...more,
  };
  const instance = await startInstance({ home, env });
  const sql = postgres(instance.postgresUrl, { max: 1, onnotice: () => undefined });
  const question = (): string => `what is new, ${++questions}`;

  const call: Harvest["call"] = async (method, path, body, apiKey = instance.apiKey) => {
    const response = await fetch(instance.url + path, {
      method,
      headers: { authorization: `Bearer ${apiKey}`, "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, body: text === "" ? null : JSON.parse(text) };
  };

  return {
    instance,
    env,
    llm,
    doubles,
    sql,
    configure,
    reset,
    call,
    question,
    run: (query = question(), options = {}) => call("POST", "/search-runs", { query, options }),
    asked: () => PROVIDERS.reduce((sum, name) => sum + doubles[name].asked.length, 0),
    handlerLog: () => readFile(join(home, "logs", "handlers.jsonl"), "utf8"),
    async stop() {
      await sql.end();
      await instance.stop();
      for (const double of [llm, ...Object.values(doubles)]) double.close();
      for (const each of [folder, home]) await rm(each, { recursive: true, force: true });
    },
  };
}
