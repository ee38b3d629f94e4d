/**
 * Where the API is and which key to use: flags, then STRANDLINE_URL and STRANDLINE_API_KEY, then the nearest
 * `.strandline/credentials.json`, which the first local start writes.
 */
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { z } from "zod";
import { CliError, EXIT } from "./exit.ts";

export interface Connection {
  /** Without a slash at the end. */
  url: string;
  apiKey: string;
}

export interface ConnectionFlags {
  url?: string;
  apiKey?: string;
}

const DEFAULT_URL = "http://127.0.0.1:8787";
const credentialsSchema = z.object({ api_url: z.string().optional(), api_key: z.string().min(1) });
type Credentials = z.infer<typeof credentialsSchema>;

/** @throws CliError where no key is found */
export async function findConnection(
  flags: ConnectionFlags,
  env: Record<string, string | undefined>,
  workingDirectory: string,
): Promise<Connection> {
  const namedUrl = flags.url ?? env["STRANDLINE_URL"];
  const namedKey = flags.apiKey ?? env["STRANDLINE_API_KEY"];
  const found = namedUrl && namedKey ? undefined : await findCredentials(env, workingDirectory);
  const url = origin(namedUrl ?? found?.api_url ?? DEFAULT_URL);
  if (namedKey) return { url, apiKey: checked(namedKey) };
  // a key is for the server that made it: it must not be sent to another one that was named by hand
  const fits = found !== undefined && (namedUrl === undefined || origin(found.api_url ?? DEFAULT_URL) === url);
  if (fits) return { url, apiKey: found.api_key };
  throw new CliError(
    found ? `The stored API key belongs to ${found.api_url ?? DEFAULT_URL}, not to ${url}` : "No API key was found",
    EXIT.access,
    "Pass --api-key, set STRANDLINE_API_KEY, or run `npm start` once in this folder: it creates a key",
  );
}

/** @throws CliError for what no header can hold, such as quotation marks of a word processor, or two lines */
function checked(key: string): string {
  const trimmed = key.trim();
  if (/^[\x21-\x7e]+$/.test(trimmed)) return trimmed;
  throw new CliError(
    "The API key holds characters that no key has",
    EXIT.access,
    "A key is sl_ and letters, digits, - and _. Look at --api-key, or at STRANDLINE_API_KEY",
  );
}

async function findCredentials(
  env: Record<string, string | undefined>,
  workingDirectory: string,
): Promise<Credentials | undefined> {
  const home = env["STRANDLINE_HOME"];
  const folders = home ? [home] : [...ancestors(workingDirectory), join(import.meta.dirname, "..")].map(stateFolder);
  for (const folder of folders) {
    const credentials = await readCredentials(join(folder, "credentials.json"));
    if (credentials) return credentials;
  }
  return undefined;
}

const stateFolder = (folder: string): string => join(folder, ".strandline");

function ancestors(folder: string): string[] {
  const parent = dirname(folder);
  return parent === folder ? [folder] : [folder, ...ancestors(parent)];
}

async function readCredentials(file: string): Promise<Credentials | undefined> {
  let text: string;
  try {
    text = await readFile(file, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && (error.code === "ENOENT" || error.code === "ENOTDIR"))
      return undefined;
    throw new CliError(`${file} cannot be read: ${(error as Error).message}`, EXIT.access);
  }
  try {
    return credentialsSchema.parse(JSON.parse(text));
  } catch {
    throw new CliError(`${file} is not {"api_url", "api_key"} as JSON`, EXIT.access, "Remove it, or pass --api-key");
  }
}

function origin(url: string): string {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed?.protocol !== "http:" && parsed?.protocol !== "https:") {
    throw new CliError(`${url} is not the http(s) address of an API`, EXIT.usage);
  }
  return parsed.origin + parsed.pathname.replace(/\/+$/, "");
}
