/** What an archive job is to do, made of its source and of what a request says. */
import { inspectUrl, type UrlInspector } from "../../access/url-inspection.ts";
import { ApiError } from "../../platform/errors.ts";
import { readPassthrough } from "../engines/passthrough.ts";
import { nativeCrawl } from "./native-crawl.ts";
import type { Engine, SourceDefinition } from "./source.ts";
import { type ToolOptions, toolOptionsSchema } from "./tool-options.ts";

/** As it is kept with the job. */
export interface JobConfig {
  seeds: string[];
  zimit_passthrough_args: string[];
  tool_options: ToolOptions;
}

export interface ConfigRequest {
  extraSeeds?: readonly string[] | undefined;
  toolOptions?: Readonly<Record<string, unknown>> | undefined;
  passthroughArgs?: readonly string[] | undefined;
}

interface Fault {
  in: "body";
  path: string;
  message: string;
}

/**
 * @param at where the source stands in the request; left out where the request only names it
 * @throws ApiError 400 VALIDATION_ERROR that names each fault; 400 URL_INVALID or 403 URL_BLOCKED of a seed
 */
export function buildJobConfig(
  source: Pick<SourceDefinition, "seeds" | "passthroughArgs" | "toolOptions" | "engine">,
  { extraSeeds = [], toolOptions = {}, passthroughArgs = [] }: ConfigRequest,
  inspector: UrlInspector,
  at?: string,
): JobConfig {
  const before = at === undefined ? "" : `${at}.`;
  const ofSource = (path: string) => `${at ?? "source"}.${path}`;
  const seeds = [
    ...source.seeds.map((seed, index) => checkedSeed(inspector, seed, ofSource(`seeds[${index}]`))),
    ...extraSeeds.map((seed, index) => checkedSeed(inspector, seed, `extraSeeds[${index}]`)),
  ];
  const args = [...source.passthroughArgs, ...passthroughArgs];
  const options = toolOptionsSchema.safeParse({ ...source.toolOptions, ...toolOptions });
  const own = source.passthroughArgs.length;
  const faults = [
    ...(options.error?.issues ?? []).map(({ path, message }) =>
      fault(before + ["toolOptions", ...path].join("."), message),
    ),
    // of what the source says, the place is that of the request's list as it would be behind it
    ...readPassthrough(args).faults.map(({ index, message }) =>
      fault(index < own ? ofSource(`passthroughArgs[${index}]`) : `passthroughArgs[${index - own}]`, message),
    ),
  ];
  if (options.data === undefined || faults.length > 0) throw invalid(faults);
  checkAddresses(inspector, args, own, ofSource);
  const config = { seeds: [...new Set(seeds)], zimit_passthrough_args: args, tool_options: options.data };
  checkEngine(source.engine, config, `${before}passthroughArgs`);
  return config;
}

/** Options with URLs that the engine asks for itself. */
const ASKED_FOR = new Set(["usesitemap", "favicon", "custombehaviors", "customcss", "originoverride"]);

/** @throws ApiError as of a seed: what the engine is led to may be no private host either */
function checkAddresses(
  inspector: UrlInspector,
  args: readonly string[],
  own: number,
  ofSource: (path: string) => string,
): void {
  for (const { key, value = "", index } of readPassthrough(args).options) {
    if (!ASKED_FOR.has(key)) continue;
    const path = index < own ? ofSource(`passthroughArgs[${index}]`) : `passthroughArgs[${index - own}]`;
    for (const [url] of value.matchAll(/https?:[^\s,=]+/gi)) checkedSeed(inspector, url, path);
  }
}

function checkEngine(engine: Engine, config: JobConfig, path: string): void {
  if (engine !== "native") return;
  const { faults } = nativeCrawl(config);
  if (faults.length > 0) throw invalid(faults.map((message) => fault(path, message)));
}

/** @throws ApiError that names the place, never the URL itself, which may hold a password */
export function checkedSeed(inspector: UrlInspector, seed: string, path: string): string {
  const checked = inspectUrl(inspector, seed);
  if (checked instanceof URL) {
    checked.hash = "";
    return checked.href;
  }
  const host = URL.parse(seed)?.host;
  const blocked = checked.code === "URL_BLOCKED";
  throw new ApiError(blocked ? 403 : 400, `${path}: ${checked.message}`, {
    code: blocked ? "URL_BLOCKED" : "URL_INVALID",
    cause: checked,
    details: { path, ...(host && { host }) },
  });
}

const fault = (path: string, message: string): Fault => ({ in: "body", path, message });

function invalid(faults: readonly Fault[]): ApiError {
  const message = faults.map((each) => `${each.path}: ${each.message}`).join("; ");
  return new ApiError(400, message, { code: "VALIDATION_ERROR", details: { faults } });
}
