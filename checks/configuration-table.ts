/**
 * Makes the table of docs/guide/configuration.md from the settings in the code. `npm run check` does not write: a test
 * compares. After a change of the settings: `npx node checks/configuration-table.ts --write`.
 */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { setOnAws } from "../infra/variables.ts";

/** The part of a setting that the table shows. */
export interface Setting {
  env: string;
  schema: z.ZodType;
  about: string;
}

const BEGIN = "<!-- configuration table: made by checks/configuration-table.ts -->";
const END = "<!-- end of the configuration table -->";

/** Makes a Markdown table with a row for each setting, in their order. */
export function configurationTable(settings: readonly Setting[]): string {
  const rows = settings.map(
    ({ env, schema, about }) => `| \`${env}\` | ${defaultOf(schema)} | ${setOnAws(env)} | ${meaning(schema, about)} |`,
  );
  return ["| variable | default | on AWS set by | meaning |", "|---|---|---|---|", ...rows].join("\n");
}

/**
 * Puts the table into a text.
 * @returns the text with the table between its two markers replaced
 * @throws Error where the markers are missing
 */
export function withConfigurationTable(text: string, table: string): string {
  const begin = text.indexOf(BEGIN);
  const end = text.indexOf(END);
  if (begin === -1 || end < begin) throw new Error(`The text lacks the lines ${BEGIN} and ${END}`);
  return `${text.slice(0, begin + BEGIN.length)}\n${table}\n${text.slice(end)}`;
}

function defaultOf(schema: z.ZodType): string {
  const result = schema.safeParse(undefined);
  const value = result.success ? result.data : undefined;
  if (value === undefined || value === "" || (Array.isArray(value) && value.length === 0)) return "";
  return `\`${String(value)}\``;
}

function meaning(schema: z.ZodType, about: string): string {
  const choices = z.toJSONSchema(schema, { io: "input", unrepresentable: "any" }).enum;
  const shown = choices === undefined ? about : `${choices.map((each) => `\`${String(each)}\``).join(", ")}: ${about}`;
  return shown.replaceAll("|", "\\|").replaceAll("*", "\\*");
}

if (import.meta.main) {
  const { CONFIG_FIELDS } = await import("../shared/platform/config.ts");
  const page = join(import.meta.dirname, "../docs/guide/configuration.md");
  const table = configurationTable(Object.values(CONFIG_FIELDS));
  if (process.argv.includes("--write")) {
    await writeFile(page, withConfigurationTable(await readFile(page, "utf8"), table));
  } else {
    process.stdout.write(`${table}\n`);
  }
}
