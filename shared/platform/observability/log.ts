/**
 * Writes JSON lines to stdout, one object a line. Values under a private name, and credentials inside URLs, never get
 * out.
 */

type Level = "debug" | "info" | "warn" | "error";
export type LogFields = Record<string, unknown>;

export interface Logger {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
  /** As `info`, at any level: the fields hold metrics, see metrics.ts. */
  measure(message: string, fields: LogFields): void;
  /** A logger that adds these fields (request_id, job_id, host …) to every line. */
  with(fields: LogFields): Logger;
}

const RANK: Record<Level, number> = { debug: 10, info: 20, warn: 30, error: 40 };
const PRIVATE = /^(authorization|x-api-key|x-admin-token|api_?key|key|password|secret|token|query|cookie|set-cookie)$/i;
const URL_CREDENTIALS = /\b([a-z][a-z0-9+.-]*:\/\/)[^/\s@]+@/gi;

/** Makes a logger whose fields stand in each of its lines. */
export function createLogger(
  base: LogFields = {},
  level: Level = "info",
  write: (line: string) => void = (line) => process.stdout.write(`${line}\n`),
): Logger {
  const emit = (at: Level, message: string, fields: LogFields = {}): void => {
    if (RANK[at] >= RANK[level]) put(at, message, fields);
  };
  const put = (at: Level, message: string, fields: LogFields): void => {
    const line = { time: new Date().toISOString(), level: at, message, ...base, ...fields };
    write(JSON.stringify(line, redact));
  };
  return {
    debug: (message, fields) => emit("debug", message, fields),
    info: (message, fields) => emit("info", message, fields),
    warn: (message, fields) => emit("warn", message, fields),
    error: (message, fields) => emit("error", message, fields),
    measure: (message, fields) => put("info", message, fields),
    with: (fields) => createLogger({ ...base, ...fields }, level, write),
  };
}

function redact(name: string, value: unknown): unknown {
  if (name !== "" && PRIVATE.test(name)) return "[redacted]";
  if (typeof value === "string") return value.replace(URL_CREDENTIALS, "$1[redacted]@");
  if (typeof value === "bigint") return value.toString();
  if (value instanceof Error) return describeError(value);
  return value;
}

/** An error as plain data, causes included. */
function describeError(error: Error): LogFields {
  return {
    name: error.name,
    message: error.message,
    ...("code" in error ? { code: error.code } : {}),
    stack: error.stack,
    ...(error.cause === undefined ? {} : { cause: error.cause }),
  };
}
