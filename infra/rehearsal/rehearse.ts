/**
 * Deploys this project with the real CDK CLI into an emulated AWS on this machine, and uses it there: see README.md.
 * Usage: node infra/rehearsal/rehearse.ts COMMAND FOLDER [options]
 */
import { existsSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { check } from "./check.ts";
import { createMasterUser, startDatabase } from "./database.ts";
import { aws, startEmulator } from "./emulator.ts";
import { CREDENTIALS, type Deployed, ENDPOINT, PORTS, PROJECT, untilFree, Workshop } from "./machine.ts";

const COMMANDS = {
  up: "starts an empty account and an empty database, and deploys everything",
  check: "uses what was deployed as its users do",
  again: "deploys a second time: nothing may change",
  change: "deploys with other settings, and checks",
  destroy: "removes all stacks, tells what is left, and deploys once more",
  down: "stops the emulator and the database",
  all: "each of these, in this order",
} as const;
type Command = keyof typeof COMMANDS;

/** What `change` deploys: another size of what waits, another class of storage, another log level. */
const CHANGED = { size: "small", logLevel: "debug", warcStorageClass: "STANDARD_IA" };
const PRIVATE_HOSTS = `127.0.0.1:${PORTS.handbook},127.0.0.1:${PORTS.oddities}`;

/** What `destroy` leaves on purpose, see docs/deploy.md, and what the CDK's bootstrap made. */
const STAYS = [
  /^bucket: (cdk-|\S*-data-bucket)/,
  /^role: (cdk-|\S*-api-ApiCloudWatchRole)/,
  // of every account
  /^schedule group: default$/,
];

/** For the CDK CLI. */
const ENDPOINTS = {
  AWS_ENDPOINT_URL: ENDPOINT,
  AWS_ENDPOINT_URL_S3: ENDPOINT,
  AWS_DEFAULT_REGION: CREDENTIALS.AWS_REGION,
  AWS_PROFILE: undefined,
  AWS_SESSION_TOKEN: undefined,
  CDK_DISABLE_VERSION_CHECK: "1",
  CDK_DISABLE_CLI_TELEMETRY: "true",
  NO_PROXY: "127.0.0.1,localhost",
  CI: "true",
};

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    /** Policies are enforced once everything is deployed. */
    iam: { type: "boolean", default: false },
    /** Lambda's rule about recursive loops is applied. */
    loops: { type: "boolean", default: false },
    settings: { type: "string", default: "{}" },
    /** Parts of the check, in place of all. */
    part: { type: "string", multiple: true },
  },
});
const [command, folder] = positionals;
if (command === undefined || !(command in COMMANDS) || folder === undefined) {
  const lines = Object.entries(COMMANDS).map(([name, meaning]) => `  ${name.padEnd(8)} ${meaning}`);
  process.stderr.write(
    `Usage: rehearse.ts COMMAND FOLDER [--iam] [--loops] [--settings JSON] [--part NAME]…\n${lines.join("\n")}\n`,
  );
  process.exit(2);
}
const workshop = new Workshop(folder);
const chosen: Record<string, unknown> = JSON.parse(values.settings);

const STEPS: Record<Command, () => Promise<void>> = {
  up,
  check: checkDeployed,
  again,
  change,
  destroy,
  down,
  async all() {
    for (const step of [up, checkDeployed, again, change, destroy, down]) await step();
  },
};
await STEPS[command as Command]();

async function up(): Promise<void> {
  await down();
  for (const port of [PORTS.emulator, PORTS.database, PORTS.postgres]) {
    await untilFree(port);
  }
  workshop.say("a database");
  await startDatabase(workshop);
  workshop.say("an empty account");
  await startEmulator(workshop, { loops: values.loops });
  await synthesise(chosen);
  await cdk("bootstrap", "aws://000000000000/us-east-1");
  await deployFirst();
  if (values.iam) workshop.say(await aws(workshop, "enforce-policies"));
}

/** The database goes first: its master user is made by hand here, and the migration of the next stack wants it. */
async function deployFirst(): Promise<void> {
  await cdk("deploy", `${deployment()}-data`);
  await createMasterUser(workshop, await aws(workshop, "master-password"));
  await cdk("deploy", "--all");
  const id = await aws(workshop, "rest-api", deployment());
  const deployed: Deployed = {
    url: `${ENDPOINT}/restapis/${id}/live/_user_request_`,
    key: await aws(workshop, "first-key", deployment()),
    socketId: await aws(workshop, "socket-api"),
    iam: values.iam,
  };
  workshop.write("deployed", deployed);
  workshop.say(`deployed: ${deployed.url}`);
}

async function checkDeployed(): Promise<void> {
  const outputs = workshop.read<Record<string, { Url: string }>>("outputs");
  const replayUrl = outputs[`${deployment()}-replay`]?.Url ?? "";
  const deployed = workshop.read<Deployed>("deployed");
  const failures = await check(workshop, deployed, {
    ...{ deployment: deployment(), replayUrl },
    ...(values.part && { parts: new Set(values.part) }),
  });
  if (failures > 0) {
    process.exitCode = 1;
    workshop.say(`${failures} parts failed; the functions' logs are in ${workshop.path("emulator.log")}`);
  }
}

async function again(): Promise<void> {
  const output = await cdk("deploy", "--all");
  const unchanged = output.match(/\(no changes\)/g)?.length ?? 0;
  const stacks = templates().length;
  workshop.say(`second deployment: ${unchanged} of ${stacks} stacks without a change`);
  if (unchanged !== stacks) process.exitCode = 1;
}

async function change(): Promise<void> {
  await synthesise({ ...chosen, ...CHANGED });
  await cdk("deploy", "--all");
  await checkDeployed();
}

async function destroy(): Promise<void> {
  await cdk("destroy", "--all", "--force");
  const left = (await aws(workshop, "remains")).split("\n");
  workshop.say(`what is left:\n${left.join("\n")}`);
  const forgotten = left.filter((line) => !STAYS.some((each) => each.test(line)));
  workshop.say(`left without a purpose: ${forgotten.join(", ") || "nothing"}`);
  if (forgotten.length > 0) process.exitCode = 1;
}

async function down(): Promise<void> {
  // its namespace ends with its first process, and so does every function and browser
  await workshop.stop("emulator", "SIGKILL");
  await workshop.stop("gate", "SIGKILL");
  await workshop.stop("postgres", "SIGINT");
}

async function synthesise(settings: Record<string, unknown>): Promise<void> {
  rmSync(workshop.path("cdk.out"), { recursive: true, force: true });
  const variables = JSON.stringify({ ACCESS__ALLOW_HOSTS: PRIVATE_HOSTS });
  // the emulator serves no distributions of CloudFront
  const context = Object.entries({ variables, console: "false", ...settings }).flatMap(([name, value]) => [
    "--context",
    `${name}=${value}`,
  ]);
  await run("synth", ["--quiet", "--output", workshop.path("cdk.out"), ...context]);
}

async function cdk(name: "bootstrap" | "deploy" | "destroy", ...args: string[]): Promise<string> {
  const flags = {
    bootstrap: [],
    deploy: ["--require-approval", "never", "--progress", "events", "--outputs-file", workshop.path("outputs.json")],
    destroy: [],
  };
  return await run(name, ["--app", workshop.path("cdk.out"), ...flags[name], ...args]);
}

async function run(name: string, args: string[]): Promise<string> {
  workshop.say(`cdk ${name} ${args.filter((each) => each === "--all" || each.endsWith("-data")).join(" ")}`);
  const env = { ...process.env, ...CREDENTIALS, ...ENDPOINTS };
  return await workshop.run(
    `cdk-${name}`,
    [join(PROJECT, "node_modules", ".bin", "cdk"), name, ...args, "--no-notices"],
    {
      env,
    },
  );
}

function templates(): string[] {
  const folder = workshop.path("cdk.out");
  return existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith(".template.json")) : [];
}

/** The name that goes before that of every stack. */
function deployment(): string {
  const data = templates().find((name) => name.endsWith("-data.template.json"));
  if (data === undefined) throw new Error("Nothing was synthesised: run `rehearse.ts up` first");
  return data.slice(0, -"-data.template.json".length);
}
