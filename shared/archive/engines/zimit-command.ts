/**
 * The command line of zimit for a job, by the argument parser of zimit 3.1.2: of an option that comes twice it takes
 * the last one, and `--seeds` it splits at commas, which URLs may hold; so seeds go in a file.
 */
import type { Passthrough } from "./passthrough.ts";

/** The shared volume, as the containers of a task see it. */
export const OUTPUT = "{output}";
export const SEED_FILE = `${OUTPUT}/.run/seeds.txt`;
export const STATE_FILE = `${OUTPUT}/.run/state.yaml`;
export const PROGRESS_FILE = `${OUTPUT}/.run/progress.json`;
export const BUILD = `${OUTPUT}/build`;

/** Graphemes that the title of a ZIM file may have. */
const LONGEST_TITLE = 30;
const ACCEPTED_CODES = "14,15,16,32,33";
/** Seconds between two states of the crawl that a later run may go on from. */
const STATE_INTERVAL = 300;

export interface ZimitRun {
  jobName: string;
  title: string;
  workers: number;
  logLevel: string;
  passthrough: readonly Passthrough[];
  /** Whether it goes on from a saved state. */
  resumes: boolean;
}

/** @returns program and arguments; `{output}` stands for the folder of the run */
export function zimitCommand({ jobName, title, workers, logLevel, passthrough, resumes }: ZimitRun): string[] {
  return [
    "zimit",
    ...["--seedFile", SEED_FILE],
    ...["--name", jobName],
    ...["--title", titleOf(title)],
    ...["--output", OUTPUT],
    // zimit deletes a folder of its own making after success, with the WARC files in it
    ...["--build", BUILD],
    ...["--workers", String(workers)],
    ...["--logging", "stats"],
    ...["--logLevel", logLevel === "DEBUG" ? "debug,info,warn,error" : "info,warn,error"],
    ...["--saveState", "always", "--saveStateInterval", String(STATE_INTERVAL)],
    ...["--zimit-progress-file", PROGRESS_FILE],
    ...["--acceptable-crawler-exit-codes", ACCEPTED_CODES],
    ...(resumes ? ["--config", STATE_FILE] : []),
    ...argumentsOf(passthrough),
  ];
}

const titleOf = (text: string): string =>
  [...new Intl.Segmenter("en", { granularity: "grapheme" }).segment(text)]
    .slice(0, LONGEST_TITLE)
    .map(({ segment }) => segment)
    .join("")
    .trim();

/** Patterns that come several times are one for zimit, which takes one. */
const JOINED = ["scopeincluderx", "scopeexcluderx"];

function argumentsOf(passthrough: readonly Passthrough[]): string[] {
  const written: string[] = [];
  const joined = new Map<string, { name: string; patterns: string[] }>();
  for (const { key, name, value } of passthrough) {
    if (JOINED.includes(key) && value !== undefined) {
      const known = joined.get(key) ?? { name, patterns: [] };
      known.patterns.push(value);
      joined.set(key, known);
      // with an equals sign: a value may begin with a hyphen
    } else written.push(value === undefined ? `--${name}` : `--${name}=${value}`);
  }
  for (const { name, patterns } of joined.values()) {
    const pattern = patterns.length === 1 ? patterns[0] : patterns.map((each) => `(?:${each})`).join("|");
    written.push(`--${name}=${pattern}`);
  }
  return written;
}
