/** The preflight against a stand-in of AWS that speaks its protocols, and takes nothing but calls that read. */
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { App } from "aws-cdk-lib";
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { createAwsReader } from "../../infra/preflight/aws-read.ts";
import { checksFor, type Finding, runChecks } from "../../infra/preflight/checks.ts";
import { needsOf } from "../../infra/preflight/needs.ts";
import { readSettings } from "../../infra/settings.ts";

interface Account {
  executions: number;
  unreserved: number;
  vpcs: number;
  /** By code. */
  quotas: Record<string, number>;
  bootstrap: number | undefined;
  hasAurora: boolean;
  denied: string[];
}

const READY: Account = {
  executions: 1000,
  unreserved: 1000,
  vpcs: 1,
  quotas: { "L-F678F1CE": 5, "L-3032A538": 6, "L-DB2E81BA": 0 },
  bootstrap: 28,
  hasAurora: true,
  denied: [],
};

beforeEach(() => {
  vi.stubEnv("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE");
  vi.stubEnv("AWS_SECRET_ACCESS_KEY", "example");
  vi.stubEnv("AWS_REGION", "eu-west-1");
});
afterEach(() => {
  vi.unstubAllEnvs();
});

/** @returns what was called, and the findings by what they are about */
async function preflight(account: Partial<Account> = {}, context: Record<string, unknown> = {}) {
  const called: string[] = [];
  const server = createServer((request, response) => {
    void answerOf(request, { ...READY, ...account }).then(({ operation, status, body }) => {
      called.push(operation);
      response.writeHead(status).end(body);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const settings = readSettings(new App({ context: { strandline: context } }));
  const aws = await createAwsReader({ AWS_ENDPOINT_URL: `http://127.0.0.1:${port}/` });
  const findings = await runChecks(aws, checksFor(needsOf(settings), settings.name));
  return { called, of: Object.fromEntries(findings.map((each) => [each.about, each])) as Record<string, Finding> };
}

async function answerOf(request: IncomingMessage, account: Account) {
  const body = await text(request);
  const authorization = request.headers.authorization ?? "";
  const service =
    /Credential=AKIDEXAMPLE\/\d{8}\/eu-west-1\/(\w+)\/aws4_request/.exec(authorization)?.[1] ?? "unsigned";
  const target = String(request.headers["x-amz-target"] ?? "").split(".")[1];
  const operation = `${service}:${target ?? new URLSearchParams(body).get("Action") ?? request.url}`;
  const denied = { operation, status: 400, body: JSON.stringify({ __type: "AccessDeniedException", message: "no" }) };
  if (account.denied.includes(service)) return denied;
  const answered = (answer: unknown) => ({
    operation,
    status: 200,
    body: typeof answer === "string" ? answer : JSON.stringify(answer),
  });
  switch (operation) {
    case "sts:GetCallerIdentity":
      return answered("<Account>123456789012</Account><Arn>arn:aws:iam::123456789012:user/somebody</Arn>");
    case "ssm:GetParameter":
      return account.bootstrap === undefined
        ? { operation, status: 400, body: JSON.stringify({ __type: "com.amazonaws.ssm#ParameterNotFound" }) }
        : answered({ Parameter: { Value: String(account.bootstrap) } });
    case "lambda:/2016-08-19/account-settings/":
      return answered({
        AccountLimit: {
          ConcurrentExecutions: account.executions,
          UnreservedConcurrentExecutions: account.unreserved,
        },
      });
    case "ec2:DescribeVpcs":
      return answered(`<vpcSet>${"<item><vpcId>vpc-1</vpcId></item>".repeat(account.vpcs)}</vpcSet>`);
    case "servicequotas:GetServiceQuota": {
      const { QuotaCode } = JSON.parse(body) as { QuotaCode: string };
      return answered({ Quota: { Value: account.quotas[QuotaCode] } });
    }
    case "rds:DescribeOrderableDBInstanceOptions":
      return answered(account.hasAurora ? "<OrderableDBInstanceOption></OrderableDBInstanceOption>" : "<none/>");
    default:
      return { operation, status: 400, body: JSON.stringify({ __type: "UnknownOperationException" }) };
  }
}

const verdicts = (of: Record<string, Finding>) =>
  Object.values(of)
    .filter(({ verdict }) => verdict !== "ok")
    .map(({ about, verdict }) => `${about}: ${verdict}`);

test("an account with all that is needed has nothing to mend, and is only read", async () => {
  const { of, called } = await preflight();
  expect(verdicts(of)).toEqual([]);
  expect(of["account"]?.text).toBe("123456789012 in eu-west-1, as arn:aws:iam::123456789012:user/somebody");
  expect(called.filter((operation) => !/:(Get|Describe|\/2016-08-19\/account-settings\/)/.test(operation))).toEqual([]);
});

test("a new account is told to ask for executions, or to deploy small, which it may", async () => {
  const fresh = { executions: 10, unreserved: 10 };
  const { of } = await preflight(fresh);
  expect(of["concurrent executions"]).toMatchObject({ verdict: "stop" });
  expect(of["concurrent executions"]?.text).toContain("--context size=small");
  expect(verdicts((await preflight(fresh, { size: "small" })).of)).toEqual([]);
});

test("an account that is deployed to already keeps what it has reserved", async () => {
  const { reserved } = needsOf(readSettings(new App()));
  expect(verdicts((await preflight({ unreserved: 1000 - reserved })).of)).toEqual([]);
});

test("what is missing is named, with what to do", async () => {
  const { of } = await preflight(
    { bootstrap: undefined, vpcs: 5, hasAurora: false },
    {
      crawl4aiImage: "unclecode/crawl4ai:0.9.2",
      teiImage: `tei@sha256:${"a".repeat(64)}`,
      teiCompute: "gpu",
      awsCliImage: `aws@sha256:${"b".repeat(64)}`,
      vectorStore: "pgvector",
    },
  );
  expect(verdicts(of)).toEqual(["bootstrap: stop", "networks: stop", "GPUs: stop", "database: stop"]);
  expect(of["bootstrap"]?.text).toContain("npm run cdk -- bootstrap");
  expect(of["networks"]?.text).toBe(
    "2 VPCs are needed, and 0 of 5 are free: remove one, or ask for more " +
      "(Service Quotas → Amazon VPC → VPCs per Region)",
  );
  expect(of["GPUs"]?.text).toContain("4 vCPUs are needed, and the account may use 0");
  expect(of["database"]?.text).toContain("eu-west-1 has no Aurora PostgreSQL");
});

test("the database that is asked for is the one that is deployed", async () => {
  const { of } = await preflight();
  const [, version = ""] = /PostgreSQL ([\d.]+),/.exec(of["database"]?.text ?? "") ?? [];
  const stack = await readFile(join(import.meta.dirname, "../../infra/stacks/data.ts"), "utf8");
  expect(stack).toContain(`AuroraPostgresEngineVersion.VER_${version.replace(".", "_")}`);
});

test("a bootstrap of long ago is made anew", async () => {
  expect((await preflight({ bootstrap: 5 })).of["bootstrap"]).toMatchObject({ verdict: "stop" });
});

test("what may not be read stops nothing, and says which permission it needs", async () => {
  const { of } = await preflight({ denied: ["servicequotas"] }, { crawl4aiImage: "unclecode/crawl4ai:0.9.2" });
  expect(verdicts(of)).toEqual(["networks: unknown", "tasks: unknown"]);
  expect(of["tasks"]?.text).toContain("AccessDeniedException: no. It needs servicequotas:GetServiceQuota");
});
