/**
 * Arguments that go to the crawler as they are. None may say again, or otherwise, what the job says: of an option that
 * comes twice the crawler takes the last one.
 */
import { exclusiveOptions, zimitOptionFault } from "./zimit-options.ts";

/** What our command line sets, and whatever leads its output elsewhere. */
const OURS = [
  "seeds",
  "seedFile",
  "url",
  "urlFile",
  "name",
  "output",
  "build",
  "keep",
  "workers",
  "collection",
  "cwd",
  "config",
  "warcs",
  "statsFilename",
  "zimitProgressFile",
  "logging",
  "logLevel",
  "saveState",
  "saveStateInterval",
  "acceptableCrawlerExitCodes",
  "crawlId",
  "redisStoreUrl",
];
/** Options that may come several times; see `zimitCommand` for patterns. */
const REPEATABLE = ["scopeIncludeRx", "scopeExcludeRx", "include-domains"];
const MOST_ARGUMENTS = 200;
const LONGEST_ARGUMENT = 2_000;

export interface Passthrough {
  /** In letters alone: the crawler takes `--user-agent` for `--userAgent`. */
  key: string;
  /** As it was written, without dashes. */
  name: string;
  /** Undefined of a switch. */
  value: string | undefined;
  /** Of the argument that names it. */
  index: number;
}

export interface ArgumentFault {
  index: number;
  message: string;
}

const keyOf = (name: string): string => name.replaceAll("-", "").replaceAll("_", "").toLowerCase();
const OUR_KEYS = OURS.map(keyOf);
const REPEATABLE_KEYS = new Set(REPEATABLE.map(keyOf));
/** Control characters, line ends too. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
const CONTROL = /[\u0000-\u001f\u007f]/;

/** Takes arguments apart into options with their values: `--depth 2`, `--depth=2` and `--exact`. */
export function readPassthrough(args: readonly string[]): { options: Passthrough[]; faults: ArgumentFault[] } {
  const options: Passthrough[] = [];
  const faults: ArgumentFault[] = [];
  const seen = new Set<string>();
  const indexes = new Map<string, number>();
  if (args.length > MOST_ARGUMENTS)
    faults.push({ index: MOST_ARGUMENTS, message: `at most ${MOST_ARGUMENTS} arguments` });
  for (let index = 0; index < args.length; index++) {
    const argument = args[index] ?? "";
    const at = index;
    const fault = (message: string) => faults.push({ index, message });
    if (argument.length > LONGEST_ARGUMENT) fault(`is longer than ${LONGEST_ARGUMENT} characters`);
    if (CONTROL.test(argument)) fault("holds a control character");
    const option = /^--([A-Za-z][\w-]*)(?:=([\s\S]*))?$/.exec(argument);
    if (option === null) {
      fault(
        /^-[A-Za-z]/.test(argument)
          ? `"${shown(argument)}" is a short option: write it as a long one, as in --depth`
          : `"${shown(argument)}" belongs to no option`,
      );
      continue;
    }
    const name = option[1] as string;
    const key = keyOf(name);
    const ours = OUR_KEYS.findIndex((each) => each === key || (key.length > 1 && each.startsWith(key)));
    if (ours >= 0) fault(`--${name} would override --${OURS[ours]}, which the job sets itself`);
    if (seen.has(key) && !REPEATABLE_KEYS.has(key)) fault(`--${name} comes twice: only one of them would count`);
    seen.add(key);
    let value = option[2];
    const next = args[index + 1];
    if (value === undefined && next !== undefined && !isOption(next)) {
      value = next;
      index++;
      if (value.length > LONGEST_ARGUMENT) fault(`its value is longer than ${LONGEST_ARGUMENT} characters`);
      if (CONTROL.test(value)) fault("its value holds a control character");
    }
    const wrong = ours < 0 ? zimitOptionFault({ name, value }) : undefined;
    if (wrong !== undefined) faults.push({ index: at, message: wrong });
    options.push({ key, name, value, index: at });
    indexes.set(name, at);
  }
  for (const { name, message } of exclusiveOptions(options.map((each) => each.name))) {
    faults.push({ index: indexes.get(name) ?? 0, message });
  }
  return { options, faults };
}

/** A negative number is a value. */
const isOption = (argument: string): boolean => /^-/.test(argument) && !/^-\d/.test(argument);

const shown = (argument: string): string => (argument.length > 60 ? `${argument.slice(0, 60)}…` : argument);
