/** Whether an account has what a deployment needs: each check reads, and says in plain words what to do. */
import { type AwsReader, AwsRefusal } from "./aws-read.ts";
import type { Needs } from "./needs.ts";

export interface Finding {
  /** `stop`: the deployment would fail. `unknown`: it could not be read. */
  verdict: "ok" | "stop" | "unknown";
  about: string;
  text: string;
}

interface Check {
  about: string;
  /** What whoever runs it must be allowed. */
  permission: string;
  run(aws: AwsReader): Promise<Omit<Finding, "about">>;
}

const ok = (text: string): Omit<Finding, "about"> => ({ verdict: "ok", text });
const stop = (text: string): Omit<Finding, "about"> => ({ verdict: "stop", text });

/** What the templates ask for. */
const BOOTSTRAP_VERSION = 6;

export function checksFor(needs: Needs, deployment: string): Check[] {
  return [
    {
      about: "account",
      permission: "sts:GetCallerIdentity",
      async run(aws) {
        const answer = await aws.query("sts", "2011-06-15", "GetCallerIdentity");
        return ok(`${textOf(answer, "Account")} in ${aws.region}, as ${textOf(answer, "Arn")}`);
      },
    },
    {
      about: "bootstrap",
      permission: "ssm:GetParameter",
      async run(aws) {
        const version = await bootstrapVersion(aws);
        const command = "npm run cdk -- bootstrap";
        if (version === undefined) return stop(`The CDK has not been prepared here: ${command}`);
        if (version >= BOOTSTRAP_VERSION) return ok(`version ${version}`);
        return stop(`Its version ${version} is older than ${BOOTSTRAP_VERSION}: ${command}`);
      },
    },
    {
      about: "concurrent executions",
      permission: "lambda:GetAccountSettings",
      run: (aws) => concurrency(aws, needs, deployment),
    },
    {
      about: "networks",
      permission: "servicequotas:GetServiceQuota and ec2:DescribeVpcs",
      async run(aws) {
        const most = await quota(aws, "vpc", "L-F678F1CE");
        const vpcs = await aws.query("ec2", "2016-11-15", "DescribeVpcs");
        const free = most - vpcs.split("<vpcId>").length + 1;
        if (free >= needs.vpcs || vpcs.includes(`${deployment}-network`)) return ok(`${free} of ${most} VPCs are free`);
        return stop(
          `${needs.vpcs} VPCs are needed, and ${free} of ${most} are free: remove one, or ask for more ` +
            "(Service Quotas → Amazon VPC → VPCs per Region)",
        );
      },
    },
    {
      about: "Elastic IPs",
      permission: "none",
      run: async () => ok("none is needed: nothing here has a fixed address"),
    },
    {
      about: "tasks",
      permission: "servicequotas:GetServiceQuota",
      run: (aws) =>
        enoughCpus(
          aws,
          needs.fargateCpus,
          ["fargate", "L-3032A538"],
          "AWS Fargate → Fargate On-Demand vCPU resource count",
        ),
    },
    {
      about: "spot tasks",
      permission: "servicequotas:GetServiceQuota",
      run: (aws) =>
        enoughCpus(aws, needs.spotCpus, ["fargate", "L-36FBB829"], "AWS Fargate → Fargate Spot vCPU resource count"),
    },
    {
      about: "GPUs",
      permission: "servicequotas:GetServiceQuota",
      run: (aws) =>
        enoughCpus(aws, needs.gpuCpus, ["ec2", "L-DB2E81BA"], "Amazon EC2 → Running On-Demand G and VT instances"),
    },
    {
      about: "database",
      permission: "rds:DescribeOrderableDBInstanceOptions",
      async run(aws) {
        const answer = await aws.query("rds", "2014-10-31", "DescribeOrderableDBInstanceOptions", {
          Engine: "aurora-postgresql",
          EngineVersion: ENGINE_VERSION,
          DBInstanceClass: "db.serverless",
        });
        if (answer.includes("<OrderableDBInstanceOption>"))
          return ok(`Aurora PostgreSQL ${ENGINE_VERSION}, Serverless v2`);
        return stop(`${aws.region} has no Aurora PostgreSQL ${ENGINE_VERSION} as Serverless v2: choose another region`);
      },
    },
  ];
}

/** Of the cluster in the data stack. */
const ENGINE_VERSION = "17.7";

/** Runs each check; one that may not read says so and stops no other. */
export async function runChecks(aws: AwsReader, checks: readonly Check[]): Promise<Finding[]> {
  return await Promise.all(
    checks.map(async ({ about, permission, run }): Promise<Finding> => {
      try {
        return { about, ...(await run(aws)) };
      } catch (error) {
        if (!(error instanceof AwsRefusal)) throw error;
        const text = `${error.message}. It needs ${permission}, and the deployment may work all the same`;
        return { about, verdict: "unknown", text };
      }
    }),
  );
}

async function bootstrapVersion(aws: AwsReader): Promise<number | undefined> {
  try {
    const answer = await aws.json("ssm", "AmazonSSM.GetParameter", { Name: "/cdk-bootstrap/hnb659fds/version" });
    return Number((answer as { Parameter: { Value: string } }).Parameter.Value);
  } catch (error) {
    if (error instanceof AwsRefusal && error.code === "ParameterNotFound") return undefined;
    throw error;
  }
}

async function concurrency(aws: AwsReader, needs: Needs, deployment: string): Promise<Omit<Finding, "about">> {
  const answer = await aws.rest("lambda", "/2016-08-19/account-settings/");
  const { ConcurrentExecutions: most, UnreservedConcurrentExecutions: free } = (
    answer as { AccountLimit: { ConcurrentExecutions: number; UnreservedConcurrentExecutions: number } }
  ).AccountLimit;
  // what an earlier deployment has reserved is its own
  const deployed = most - free >= needs.reserved && needs.reserved > 0;
  if (deployed || free >= needs.executions) return ok(`${most} at once, ${free} of them unreserved`);
  const ask = "ask for 1000 (Service Quotas → AWS Lambda → Concurrent executions)";
  if (needs.reserved === 0) {
    return stop(`${free} are unreserved, and ${deployment} needs ${needs.executions} even as size: small: ${ask}`);
  }
  return stop(
    `${free} of ${most} are unreserved, and ${deployment} reserves ${needs.reserved} and leaves 100: ${ask}, ` +
      "or deploy with --context size=small",
  );
}

async function enoughCpus(
  aws: AwsReader,
  needed: number,
  [service, code]: [string, string],
  where: string,
): Promise<Omit<Finding, "about">> {
  if (needed === 0) return ok("none by these settings");
  const most = await quota(aws, service, code);
  if (most >= needed) return ok(`${needed} of ${most} vCPUs`);
  return stop(`${needed} vCPUs are needed, and the account may use ${most}: ask for more (Service Quotas → ${where})`);
}

/** The account's own value, or AWS's where the account has none. */
async function quota(aws: AwsReader, ServiceCode: string, QuotaCode: string): Promise<number> {
  const read = async (operation: string) => {
    const answer = await aws.json("servicequotas", `ServiceQuotasV20190624.${operation}`, { ServiceCode, QuotaCode });
    return (answer as { Quota: { Value: number } }).Quota.Value;
  };
  try {
    return await read("GetServiceQuota");
  } catch (error) {
    if (!(error instanceof AwsRefusal) || error.code !== "NoSuchResourceException") throw error;
    return await read("GetAWSDefaultServiceQuota");
  }
}

const textOf = (xml: string, name: string): string => new RegExp(`<${name}>([^<]*)<`).exec(xml)?.[1] ?? "";
