/** What `strandline backup` and `restore` have in common: arguments, where a back-up lies, and how a command ends. */
import { readFile } from "node:fs/promises";
import { parseArgs } from "node:util";
import { S3Client } from "@aws-sdk/client-s3";
import { type BackupStore, createFolderStore } from "../../shared/backup/backup-store.ts";
import { createBucket, createBucketStore } from "../../shared/backup/bucket.ts";
import { UnusableBackup } from "../../shared/backup/manifest.ts";
import { PassphraseRefused } from "../../shared/backup/secrets.ts";
import { UsageError } from "./usage-error.ts";

export interface Request {
  store: BackupStore;
  deployment: boolean;
  /** State folder. */
  home: string;
  passphrase: string | undefined;
  json: boolean;
}

/** As of the other commands: done, failed, wrong usage. */
const EXIT = { done: 0, failed: 1, usage: 2 } as const;

const OPTIONS = {
  deployment: { type: "boolean" },
  endpoint: { type: "string" },
  "passphrase-file": { type: "string" },
  json: { type: "boolean" },
  help: { type: "boolean", short: "h" },
} as const;

const usage = (
  name: string,
  about: string,
): string => `Usage: strandline ${name} [options] <folder or s3://bucket/prefix>

${about}

Options:
  --deployment              the stores that the environment names (DATABASE__POSTGRES_URL, STORAGE__BUCKET, STATE__TABLE,
                            QUEUES__URL_PREFIX), as a function of a stack has them; else those of STRANDLINE_HOME
  --passphrase-file <file>  ${name === "backup" ? "seal the secrets with its first line" : "open sealed secrets with its first line"} (STRANDLINE_BACKUP_PASSPHRASE)
  --endpoint <url>          of the S3 that holds the back-up, where it is none of AWS's
  --json                    print what was done as JSON
  -h, --help                display help for command
`;

/** Runs the command, and ends the process as it ends. */
export async function runCommand(
  name: "backup" | "restore",
  about: string,
  run: (request: Request) => Promise<void>,
): Promise<void> {
  try {
    const request = await readRequest(process.argv.slice(2));
    if (request === undefined) process.stdout.write(usage(name, about));
    else await run(request);
    process.exitCode = EXIT.done;
  } catch (error) {
    const { message, hint } = describe(error);
    process.stderr.write(`strandline: ${message}\n${hint === undefined ? "" : `  ${hint}\n`}`);
    process.exitCode = error instanceof UsageError ? EXIT.usage : EXIT.failed;
  }
}

function describe(error: unknown): { message: string; hint?: string | undefined } {
  if (error instanceof UsageError || error instanceof UnusableBackup) return error;
  if (error instanceof PassphraseRefused) return error;
  if (!(error instanceof Error)) return { message: String(error) };
  const { name, message } = error;
  return { message: message === "" || name === "Error" ? message || name : `${name}: ${message}` };
}

/** undefined where help is asked for */
async function readRequest(args: string[]): Promise<Request | undefined> {
  const { values, positionals } = parse(args);
  if (values.help) return undefined;
  const [address, ...more] = positionals;
  if (address === undefined || more.length > 0) {
    throw new UsageError("Name one folder, or s3://bucket/prefix", "See --help");
  }
  return {
    store: storeAt(address, values.endpoint),
    deployment: values.deployment ?? false,
    home: process.env["STRANDLINE_HOME"] || ".strandline",
    passphrase: await readPassphrase(values["passphrase-file"]),
    json: values.json ?? false,
  };
}

function parse(args: string[]) {
  try {
    return parseArgs({ args, options: OPTIONS, allowPositionals: true });
  } catch (error) {
    throw new UsageError((error as Error).message, "See --help");
  }
}

function storeAt(address: string, endpoint: string | undefined): BackupStore {
  if (!/^[a-z][a-z0-9+.-]*:\/\//i.test(address)) return createFolderStore(address);
  const [, name, prefix = ""] = /^s3:\/\/([^/]+)(?:\/(.*))?$/.exec(address) ?? [];
  if (name === undefined) throw new UsageError(`${address} is neither a folder nor s3://bucket/prefix`, "See --help");
  // credentials and region are the SDK's: of the environment, a profile or a role
  const s3 = new S3Client(endpoint === undefined ? {} : { endpoint, forcePathStyle: true });
  return createBucketStore(createBucket(s3, name), prefix, address);
}

async function readPassphrase(file: string | undefined): Promise<string | undefined> {
  if (file === undefined) return process.env["STRANDLINE_BACKUP_PASSPHRASE"] || undefined;
  const text = await readFile(file, "utf8").catch((error: Error) => {
    throw new UsageError(`The passphrase could not be read: ${error.message}`, "Name a file whose first line it is");
  });
  const [line = ""] = text.split(/\r?\n/);
  if (line !== "") return line;
  throw new UsageError(`The first line of ${file} is empty`, "Name a file whose first line is the passphrase");
}

export const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`;

/** One line on a terminal, drawn again; nothing where a program reads along. */
export function progressLine(): { show(text: string): void; end(): void } {
  const isShown = process.stderr.isTTY === true;
  return {
    show: (text) => void (isShown && process.stderr.write(`\r\x1b[K${text}`)),
    end: () => void (isShown && process.stderr.write("\r\x1b[K")),
  };
}
