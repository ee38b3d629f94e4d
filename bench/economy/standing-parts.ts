/** What a deployment has that costs something every month, counted in the templates as `npm run synth` writes them. */
import { execFileSync } from "node:child_process";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { StandingParts } from "./bill.ts";

interface Template {
  Resources: Record<string, { Type: string; Properties?: Record<string, unknown> }>;
}

/** Queues that this one has emptied in a minute, where it is a schedule that says so. */
function drainedPerMinute({ Type, Properties = {} }: Template["Resources"][string]): number {
  if (Type !== "AWS::Scheduler::Schedule") return 0;
  const { Input } = Properties["Target"] as { Input?: string };
  const { drain = [] } = JSON.parse(Input ?? "{}") as { drain?: string[] };
  if (drain.length === 0) return 0;
  const [, minutes] = /^rate\((\d+) minutes?\)$/.exec(String(Properties["ScheduleExpression"])) ?? [];
  return drain.length / Number(minutes);
}

const REPOSITORY = join(import.meta.dirname, "../..");

export async function standingParts(): Promise<StandingParts> {
  execFileSync(process.execPath, ["infra/synth.ts"], { cwd: REPOSITORY, stdio: ["ignore", "ignore", "inherit"] });
  const folder = join(REPOSITORY, "cdk.out");
  const files = (await readdir(folder)).filter((name) => name.endsWith(".template.json"));
  const templates = await Promise.all(
    files.map(async (name) => JSON.parse(await readFile(join(folder, name), "utf8")) as Template),
  );
  const resources = templates.flatMap((template) => Object.values(template.Resources));
  const count = (type: string) => resources.filter(({ Type }) => Type === type).length;
  return {
    endpoints: resources.filter(
      ({ Type, Properties }) => Type === "AWS::EC2::VPCEndpoint" && Properties?.["VpcEndpointType"] === "Interface",
    ).length,
    alarms: count("AWS::CloudWatch::Alarm"),
    dashboards: count("AWS::CloudWatch::Dashboard"),
    // RDS keeps the password of the database in one that no template names
    secrets: count("AWS::SecretsManager::Secret") + 1,
    triggers: count("AWS::Lambda::EventSourceMapping"),
    drainedQueuesPerMinute: resources.reduce((sum, each) => sum + drainedPerMinute(each), 0),
  };
}
