/**
 * What handlers print: all of it goes to `logs/handlers.jsonl` in the runtime's folder; the terminal shows warnings and
 * errors in one line each, so that `npm start` stays readable while a crawl logs every page.
 */
import { createWriteStream, mkdirSync, renameSync, statSync, type WriteStream } from "node:fs";
import { join } from "node:path";

export interface LogSink {
  line(functionName: string, line: string): void;
  /** Of the runtime itself. */
  fault(error: unknown): void;
  close(): Promise<void>;
}

/** One older file is kept. */
const LARGEST_FILE_BYTES = 50 * 1024 * 1024;

/** @param show writes a line to the terminal */
export function openLogSink(home: string, show: (text: string) => void): LogSink {
  const directory = join(home, "logs");
  mkdirSync(directory, { recursive: true });
  const file = join(directory, "handlers.jsonl");
  let written = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  let output = open(file, show);

  const write = (line: string) => {
    if (written > LARGEST_FILE_BYTES) {
      output.end();
      renameSync(file, `${file}.1`);
      output = open(file, show);
      written = 0;
    }
    written += line.length + 1;
    output.write(`${line}\n`);
  };

  return {
    line(functionName, line) {
      write(line);
      const text = readable(functionName, line);
      if (text !== undefined) show(text);
    },
    fault(error) {
      const message = error instanceof Error ? error.message : String(error);
      const stack = error instanceof Error ? (typeof error.cause === "string" ? error.cause : error.stack) : undefined;
      write(JSON.stringify({ time: new Date().toISOString(), level: "error", function: "runtime", message, stack }));
      show(`${clock()} error runtime: ${message}`);
    },
    close: () => new Promise((resolve) => output.end(() => resolve())),
  };
}

function open(file: string, show: (text: string) => void): WriteStream {
  const output = createWriteStream(file, { flags: "a", mode: 0o600 });
  output.on("error", (error) => show(`${clock()} error runtime: ${file} cannot be written: ${error.message}`));
  return output;
}

/** Undefined where the terminal need not show it: JSON below `warn`. */
function readable(functionName: string, line: string): string | undefined {
  const parsed = parse(line);
  if (parsed === undefined) return `${clock()} ${functionName}: ${line}`;
  const { level, message, job_id, host, error } = parsed;
  if (level !== "warn" && level !== "error") return undefined;
  const cause = error as { message?: unknown; code?: unknown } | null | undefined;
  const details = [
    ...(typeof job_id === "string" ? [`job ${job_id}`] : []),
    ...(typeof host === "string" ? [host] : []),
    ...(cause?.message === undefined ? [] : [`${cause.code === undefined ? "" : `${cause.code}: `}${cause.message}`]),
  ];
  return `${clock()} ${level} ${functionName}: ${message}${details.length > 0 ? ` (${details.join("; ")})` : ""}`;
}

function parse(line: string): Record<string, unknown> | undefined {
  if (!line.startsWith("{")) return undefined;
  try {
    return JSON.parse(line) as Record<string, unknown>;
  } catch {
    return undefined;
  }
}

const clock = (): string => new Date().toTimeString().slice(0, 8);
