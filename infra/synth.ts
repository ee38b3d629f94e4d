/**
 * `npm run synth`: bundles the functions and writes the CloudFormation templates to `cdk.out/`, without an account,
 * credentials or Docker. Fails on each finding of cdk-nag, and of CDK's own validation, that nobody acknowledged.
 */
import { readFile } from "node:fs/promises";
import { join, relative } from "node:path";
import { App } from "aws-cdk-lib";
import { createApp } from "./app.ts";
import { cyclesOf } from "./topology/cycles.ts";
import { TOPOLOGY } from "./topology.ts";

const repository = join(import.meta.dirname, "..");
const outdir = join(repository, "cdk.out");
const { context } = JSON.parse(await readFile(join(repository, "cdk.json"), "utf8"));

const app = new App({ outdir, context, analyticsReporting: false });
await createApp(app, join(repository, ".bundles"));
const assembly = app.synth();
for (const stack of assembly.stacks) {
  const resources = Object.keys(stack.template.Resources).length;
  process.stdout.write(`${relative(repository, stack.templateFullPath)}: ${resources} resources\n`);
}
for (const cycle of cyclesOf(TOPOLOGY)) {
  process.stdout.write(`Messages may come round between ${cycle.join(", ")}, until an end:\n`);
  for (const { name, cycleEnds } of TOPOLOGY.functions.filter((each) => cycle.includes(each.name)))
    process.stdout.write(`  ${name}: ${cycleEnds}\n`);
}
