/**
 * `npm run preflight [-- --context size=small]`: says, by calls that only read, whether the account and region of the
 * shell have what this deployment needs. Exits with 1 where something would stop it.
 */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { App } from "aws-cdk-lib";
import { readSettings } from "../settings.ts";
import { createAwsReader } from "./aws-read.ts";
import { checksFor, runChecks } from "./checks.ts";
import { needsOf } from "./needs.ts";

const { values } = parseArgs({ options: { context: { type: "string", multiple: true, default: [] } } });
const given = Object.fromEntries(values.context.map((each) => each.split(/=(.*)/s).slice(0, 2)));
const file = JSON.parse(await readFile(join(import.meta.dirname, "../../cdk.json"), "utf8")) as {
  context?: Record<string, unknown>;
};
const settings = readSettings(new App({ context: { ...file.context, ...given } }));
const aws = await createAwsReader(process.env);
const findings = await runChecks(aws, checksFor(needsOf(settings), settings.name));
for (const { verdict, about, text } of findings) {
  process.stdout.write(`${verdict.padEnd(8)}${about}: ${text}\n`);
}
const stops = findings.filter(({ verdict }) => verdict === "stop").length;
process.stdout.write(stops === 0 ? "Nothing here stops a deployment.\n" : `${stops} to be mended before you deploy.\n`);
process.exitCode = stops === 0 ? 0 : 1;
