/** What must hold for every resource of its kind, on the very templates that are deployed. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { App, Stack } from "aws-cdk-lib";
import { CfnBucket } from "aws-cdk-lib/aws-s3";
import { AwsSolutionsChecks } from "cdk-nag";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { acknowledge } from "../../infra/acknowledge.ts";
import { readSettings } from "../../infra/settings.ts";
import { cyclesOf, sendGraph } from "../../infra/topology/cycles.ts";
import {
  concurrencyLimit,
  databaseConnections,
  deadLetterQueue,
  type FunctionSpec,
  gatewayMethods,
} from "../../infra/topology/spec.ts";
import { TOPOLOGY } from "../../infra/topology.ts";
import { loadConfig } from "../../shared/platform/config.ts";
import { type Resource, type Synthesis, synthesise } from "./synthesis.ts";

let synthesis: Synthesis;
beforeAll(async () => {
  synthesis = await synthesise();
}, 480_000);
afterAll(() => synthesis.remove());

const properties = (type: string): Record<string, unknown>[] =>
  synthesis.resources(type).map((each) => each.Properties);

/** A function of ours is known by the sentence of the topology. */
function functionOf(spec: FunctionSpec): Resource {
  const found = synthesis
    .resources("AWS::Lambda::Function")
    .filter((each) => each.Properties["Description"] === spec.about);
  expect(found, spec.name).toHaveLength(1);
  return found[0] as Resource;
}

/** The statements that the function's role allows. */
function statementsOf(spec: FunctionSpec): { Action: string[]; Resource: string[] }[] {
  const role = JSON.stringify(functionOf(spec).Properties["Role"]);
  const [, roleId] = /"([^"]*Role[^"]*)"/.exec(role) ?? [];
  // what is too long for the role's own policy stands in others
  return [...synthesis.resources("AWS::IAM::Policy"), ...synthesis.resources("AWS::IAM::ManagedPolicy")]
    .filter(({ Properties }) => JSON.stringify(Properties["Roles"]).includes(`"${roleId}"`))
    .flatMap(
      ({ Properties }) =>
        (Properties["PolicyDocument"] as { Statement: { Action: unknown; Resource: unknown }[] }).Statement,
    )
    .map(({ Action, Resource }) => ({
      Action: [Action].flat().map(String),
      Resource: [Resource].flat().map((each) => (typeof each === "string" ? each : JSON.stringify(each))),
    }));
}

const allows = (spec: FunctionSpec, service: string): boolean =>
  statementsOf(spec).some(({ Action }) => Action.some((action) => action.startsWith(`${service}:`)));

test("the API compresses the answers that its functions give whole", () => {
  expect(properties("AWS::ApiGateway::RestApi")).toMatchObject([{ MinimumCompressionSize: 1024 }]);
});

describe("functions", () => {
  test.each(TOPOLOGY.functions.map((spec) => [spec.name, spec] as const))(
    "%s is built as it is declared",
    (_name, spec) => {
      expect(functionOf(spec).Properties).toMatchObject({
        Runtime: "nodejs24.x",
        Architectures: [spec.browser ? "x86_64" : "arm64"],
        Handler: "index.handler",
        Timeout: spec.timeoutS,
        MemorySize: spec.memoryMb,
        LoggingConfig: { LogGroup: expect.anything() },
      });
    },
  );

  test("no other function is there but what a deployment itself runs", () => {
    const own = new Set(TOPOLOGY.functions.map(({ about }) => about));
    const others = synthesis
      .resources("AWS::Lambda::Function")
      .filter(({ Properties }) => !own.has(String(Properties["Description"])));
    expect(others.map(({ logicalId }) => logicalId).toSorted()).toEqual([
      expect.stringMatching(/^AWSCDKTriggerCustomResource/),
      expect.stringMatching(/^DatabaseUserFunction/),
      expect.stringMatching(/^Publisher/),
    ]);
  });

  test("what reaches the internet is outside of the VPC and knows no database", () => {
    const outside = TOPOLOGY.functions.filter(({ network }) => network === "internet");
    expect(outside.length).toBeGreaterThan(0);
    for (const spec of outside) {
      expect(spec.grants.database, spec.name).toBeUndefined();
      const { VpcConfig, Environment } = functionOf(spec).Properties;
      expect(VpcConfig, spec.name).toBeUndefined();
      expect(JSON.stringify(Environment), spec.name).not.toMatch(/DATABASE__|Cluster/);
      expect(allows(spec, "secretsmanager"), spec.name).toBe(spec.grants.providerKeys === true);
      expect(allows(spec, "ec2"), spec.name).toBe(false);
    }
  });

  test("the keys of providers are known to the one function that asks them, which is no API and no part of the VPC", () => {
    const holders = TOPOLOGY.functions.filter((spec) =>
      JSON.stringify(functionOf(spec)).includes("HARVEST__SECRET_ARN"),
    );
    expect(holders.map(({ name, network, routes }) => ({ name, network, routes }))).toEqual([
      { name: "harvest", network: "internet", routes: undefined },
    ]);
    const readers = TOPOLOGY.functions.filter((spec) => /ProviderKeys/.test(JSON.stringify(statementsOf(spec))));
    expect(readers.map(({ name }) => name)).toEqual(["harvest"]);
  });

  test("what is private is inside of the VPC, in subnets without a route to the internet", () => {
    for (const spec of TOPOLOGY.functions.filter(({ network }) => network === "private")) {
      expect(functionOf(spec).Properties["VpcConfig"], spec.name).toBeDefined();
    }
    expect(synthesis.resources("AWS::EC2::NatGateway")).toEqual([]);
    expect(synthesis.resources("AWS::EC2::InternetGateway")).toEqual([]);
  });

  test("each gets the settings that the configuration knows, and no password", () => {
    for (const spec of TOPOLOGY.functions) {
      const { Variables } = functionOf(spec).Properties["Environment"] as { Variables: Record<string, unknown> };
      const env = Object.fromEntries(Object.entries(Variables).map(([name, value]) => [name, textOf(value)]));
      const config = loadConfig(env);
      expect(config.queueUrlPrefix, spec.name).toMatch(/^https:\/\/sqs\..*\/strandline-$/);
      expect(config.bucket, spec.name).not.toBe("strandline");
      if (spec.grants.database) {
        expect(config.postgresUrl, spec.name).toMatch(/^postgres:\/\/strandline_functions@.*sslmode=verify-full$/);
        expect(config.postgresAuth, spec.name).toBe("iam");
        expect(env["NODE_EXTRA_CA_CERTS"], spec.name).toBeDefined();
      }
    }
  });

  test("together they open fewer connections than the database takes", () => {
    const { databaseMaxAcu } = readSettings(new App());
    expect(databaseConnections(TOPOLOGY)).toBeLessThan(0.9 * Math.min(2000, 190 * databaseMaxAcu));
    for (const spec of TOPOLOGY.functions.filter(({ grants }) => grants.database)) {
      expect(functionOf(spec).Properties["ReservedConcurrentExecutions"], spec.name).toBe(concurrencyLimit(spec));
    }
  });
});

interface Statement {
  Action: string | string[];
}

describe("the database", () => {
  const [run, migration] = [/^DatabaseUserRun/, /^runmigrate/].map(
    (id) => (): Resource | undefined =>
      synthesis.resources("Custom::Trigger").find(({ logicalId }) => id.test(logicalId)),
  );

  test("takes tokens of IAM, and statements from outside for the one function that makes its user", () => {
    expect(properties("AWS::RDS::DBCluster")).toMatchObject([
      { EnableIAMDatabaseAuthentication: true, EnableHttpEndpoint: true, MasterUsername: "strandline" },
    ]);
    const policies = [...synthesis.resources("AWS::IAM::Policy"), ...synthesis.resources("AWS::IAM::ManagedPolicy")];
    const reaching = policies.filter(({ Properties }) => /rds-data:|MasterUserSecret/.test(JSON.stringify(Properties)));
    expect(reaching.map(({ logicalId }) => logicalId)).toEqual([expect.stringMatching(/^DatabaseUserRole/)]);
    const documents = reaching.map(({ Properties }) => Properties["PolicyDocument"] as { Statement: Statement[] });
    const actions = documents.flatMap(({ Statement }) => Statement.flatMap(({ Action }) => Action));
    expect(actions.filter((each) => !each.startsWith("logs:"))).toEqual([
      "rds-data:ExecuteStatement",
      "secretsmanager:GetSecretValue",
    ]);
    const [maker] = synthesis
      .resources("AWS::Lambda::Function")
      .filter(({ logicalId }) => logicalId.startsWith("DatabaseUserFunction"));
    expect(maker?.Properties["VpcConfig"]).toBeUndefined();
  });

  test("has its user before the migration, which comes as that", () => {
    expect(run?.()).toBeDefined();
    expect(migration?.()?.DependsOn).toContain(run?.()?.logicalId);
  });

  test("is all that private functions would ask Secrets Manager for, which has no endpoint in their network", () => {
    for (const spec of TOPOLOGY.functions.filter(({ network }) => network === "private")) {
      expect(allows(spec, "secretsmanager"), spec.name).toBe(false);
      expect(JSON.stringify(functionOf(spec).Properties["Environment"]), spec.name).not.toMatch(/SECRET_ARN/);
    }
  });
});

describe("what comes round", () => {
  const cycles = cyclesOf(TOPOLOGY);

  test("is known from the topology's own sends", () => {
    expect(cycles.map((cycle) => cycle.toSorted())).toEqual([
      ["dead-letter", "embed", "fetch", "ingest", "render", "warc-index"],
      ["progress"],
      ["webhook-send", "webhooks"],
      ["warc-keep"],
      ["source-runs", "source-schedules"],
    ]);
    expect(sendGraph(TOPOLOGY).get("discover")).toEqual(new Set(["discovered", "dead-letter"]));
  });

  test.each(TOPOLOGY.functions.map((spec) => [spec.name, spec] as const))(
    "%s is let run on by Lambda exactly where its messages may come back, and says what ends that",
    (name, spec) => {
      const comesRound = cycles.some((cycle) => cycle.includes(name));
      expect(functionOf(spec).Properties["RecursiveLoop"]).toBe(comesRound ? "Allow" : undefined);
      expect(spec.cycleEnds !== undefined).toBe(comesRound);
    },
  );
});

describe("a change of the deployment", () => {
  test("of functions and queues meets no export: other stacks know them by their names", () => {
    const holders = new Set(
      synthesis.app
        .synth()
        .stacks.flatMap(({ stackName, template }) =>
          Object.values<{ Export?: unknown }>(template.Outputs ?? {}).map((output) => ({ stackName, output })),
        )
        .filter(({ output }) => output.Export !== undefined)
        .map(({ stackName }) => stackName),
    );
    // the console's distribution has to know which API is behind it
    expect([...holders].toSorted()).toEqual([
      "strandline-api",
      "strandline-data",
      "strandline-network",
      "strandline-replay",
    ]);
    const exported = synthesis.app
      .synth()
      .stacks.filter(({ stackName }) => stackName === "strandline-data")
      .flatMap(({ template }) => Object.keys(template.Outputs));
    expect(exported.filter((name) => /queue/i.test(name))).toEqual([]);
  });

  test("names every function by the deployment and the topology", () => {
    for (const spec of TOPOLOGY.functions) {
      expect(functionOf(spec).Properties["FunctionName"]).toBe(`strandline-${spec.name}`);
    }
  });

  test("leaves nothing behind but what holds data, and what the account shares", async () => {
    const kept = synthesis.resources().filter(({ DeletionPolicy }) => DeletionPolicy === "Retain");
    expect(kept.map(({ Type }) => Type).toSorted()).toEqual([
      "AWS::ApiGateway::Account",
      "AWS::IAM::Role",
      "AWS::S3::Bucket",
    ]);
    const secrets = synthesis.resources("AWS::SecretsManager::Secret");
    expect(secrets.map(({ DeletionPolicy }) => DeletionPolicy)).toEqual(["Delete"]);
    const deploy = await readFile(join(import.meta.dirname, "..", "..", "docs", "deploy.md"), "utf8");
    expect(deploy).toMatch(
      /What stays, on purpose: the bucket .*\n?.*snapshot of\s+the database, and the role .*Both secrets go/s,
    );
    expect(properties("AWS::Scheduler::ScheduleGroup").map(({ Name }) => Name)).toEqual([
      "strandline-sources",
      expect.not.stringMatching(/^strandline$/),
    ]);
    const logs = synthesis.resources("AWS::Logs::LogGroup");
    expect(logs.map(({ DeletionPolicy }) => DeletionPolicy)).toEqual(logs.map(() => "Delete"));
    expect(logs.map(({ Properties }) => JSON.stringify(Properties["LogGroupName"] ?? ""))).toContainEqual(
      expect.stringContaining("AWSCDKTriggerCustomResource"),
    );
  });

  test("that asks for no Crawl4AI leaves an empty stack in its place, once the render function has let go", () => {
    const rendering = synthesis.app.synth().stacks.find(({ stackName }) => stackName === "strandline-rendering");
    expect(Object.values<Resource>(rendering?.template.Resources).map(({ Type }) => Type)).toEqual([
      "AWS::CloudFormation::WaitConditionHandle",
    ]);
    expect(rendering?.dependencies.map(({ id }) => id)).toContain("strandline-pipeline");
  });
});

test("an API function answers before the gateway stops waiting, though the database resumes for longer", () => {
  const GATEWAY_S = 29;
  for (const spec of TOPOLOGY.functions.filter(({ grants, routes }) => grants.database && routes)) {
    const { Variables } = functionOf(spec).Properties["Environment"] as { Variables: Record<string, string> };
    expect(Number(Variables["DATABASE__CONNECT_TIMEOUT_S"]), spec.name).toBeLessThan(GATEWAY_S - 5);
  }
});

describe("docs/deploy.md", () => {
  const concurrencyOf = (network: FunctionSpec["network"]) =>
    TOPOLOGY.functions
      .filter((spec) => spec.network === network)
      .reduce((sum, spec) => sum + (concurrencyLimit(spec) ?? Number.POSITIVE_INFINITY), 0);
  const deploy = () => readFile(join(import.meta.dirname, "..", "..", "docs", "deploy.md"), "utf8");

  test("tells what is reserved, and an account with 1,000 executions has room for all functions at once", async () => {
    const reserved = properties("AWS::Lambda::Function")
      .map(({ ReservedConcurrentExecutions = 0 }) => Number(ReservedConcurrentExecutions))
      .reduce((sum, each) => sum + each, 0);
    expect(reserved).toBe(concurrencyOf("private"));
    // AWS refuses a reservation that leaves fewer than 100
    expect(1000 - reserved).toBeGreaterThan(Math.max(100, concurrencyOf("internet")));
    expect(await deploy()).toContain(`reserve ${reserved} in all`);
    expect(await deploy()).toContain(`use up to ${concurrencyOf("internet")} of it`);
  });

  test("counts the alarms, the polls, the secrets and the endpoints that cost something every month", async () => {
    const alarms = properties("AWS::CloudWatch::Alarm").length;
    expect(await deploy()).toContain(`| alarms, ${alarms} at 0.10 | ${(alarms * 0.1).toFixed(2)} |`);
    const triggers = properties("AWS::Lambda::EventSourceMapping").length;
    const polls = (5 * 30 * 86_400) / 20;
    expect(await deploy()).toMatch(`empty polls of ${triggers} triggers`);
    expect(await deploy()).toContain(`a million | ${((triggers * polls * 0.4) / 1e6).toFixed(2)} |`);
    // besides the one of our own, RDS keeps the password of the database in one
    expect(properties("AWS::SecretsManager::Secret")).toHaveLength(1);
    const endpoints = properties("AWS::EC2::VPCEndpoint").filter(
      ({ VpcEndpointType }) => VpcEndpointType === "Interface",
    );
    expect(await deploy()).toContain("| one interface endpoint (SQS) in one zone | 7.30 |");
    expect(endpoints.map(({ ServiceName }) => JSON.stringify(ServiceName))).toEqual([expect.stringMatching(/sqs/)]);
    expect(properties("AWS::CloudWatch::Dashboard")).toHaveLength(1);
    expect(await deploy()).toContain("| one dashboard | 0 or 3.00 |");
  });
});

test("no stack comes near the 500 resources that CloudFormation takes", () => {
  const sizes = Map.groupBy(synthesis.resources(), ({ stack }) => stack);
  for (const [stack, { length }] of sizes) expect(length, stack).toBeLessThan(480);
});

describe("permissions", () => {
  test("only actions that know no resources are allowed on every resource", () => {
    for (const { Properties, logicalId } of synthesis.resources("AWS::IAM::Policy")) {
      const { Statement } = Properties["PolicyDocument"] as { Statement: { Action: unknown; Resource: unknown }[] };
      for (const { Action, Resource } of Statement) {
        const actions = [Action].flat().map(String);
        expect(
          actions.filter((action) => action.includes("*")),
          logicalId,
        ).toEqual([]);
        if (![Resource].flat().includes("*")) continue;
        expect(
          actions.filter(
            (action) => !/^ec2:.*(NetworkInterface|Subnets|PrivateIpAddresses)|^scheduler:List/.test(action),
          ),
          logicalId,
        ).toEqual([]);
      }
    }
  });

  test.each(TOPOLOGY.functions.map((spec) => [spec.name, spec] as const))(
    "%s may do what its grants say and no more",
    (_name, spec) => {
      const { grants, queues = [] } = spec;
      expect(allows(spec, "secretsmanager")).toBe(grants.providerKeys === true);
      expect(statementsOf(spec).filter(({ Action }) => Action.some((each) => each.startsWith("rds")))).toEqual(
        grants.database === true
          ? [{ Action: ["rds-db:connect"], Resource: [expect.stringMatching(/:dbuser:.*\/strandline_functions"/)] }]
          : [],
      );
      expect([allows(spec, "scheduler"), allows(spec, "iam")]).toEqual(Array(2).fill(grants.schedules === true));
      expect(allows(spec, "dynamodb")).toBe(grants.stateTable === true);
      expect(allows(spec, "s3")).toBe(grants.bucket !== undefined);
      const actions = statementsOf(spec).flatMap(({ Action }) => Action);
      const written = statementsOf(spec)
        .filter(({ Action }) => Action.includes("s3:PutObject"))
        .flatMap(({ Resource }) => Resource);
      const isIncoming = (arn: string) => arn.includes("/incoming/*");
      expect(written.length > 0).toBe(!["read", "clear", "exports", undefined].includes(grants.bucket));
      const isCached = (arn: string) => arn.includes("/cache/*");
      expect(written.filter(isCached).length).toBe(grants.bucket === "cache" ? 1 : 0);
      // what a bucket's event has woken must not write what such events tell of
      expect(written.filter(isIncoming).length).toBe(grants.bucket === "upload" ? 1 : 0);
      const isUploaded = (arn: string) => arn.includes("/uploads/*");
      expect(written.filter(isUploaded).length).toBe(grants.bucket === "documents" ? 1 : 0);
      const others = written.filter((arn) => !isIncoming(arn) && !isCached(arn) && !isUploaded(arn));
      expect(others.length > 0).toBe(["write", "keep", "engine"].includes(grants.bucket ?? ""));
      const isOfEngines = (arn: string) => arn.includes("/archive-jobs/*") || arn.includes("/previews/*");
      if (grants.bucket === "engine") expect(written.every(isOfEngines)).toBe(true);
      const ended = statementsOf(spec)
        .filter(({ Action }) => Action.some((action) => action.startsWith("s3:Delete")))
        .flatMap(({ Resource }) => Resource);
      const ends = { keep: "/warcs/*", clear: "/archive-jobs/*", exports: "/exports/*" }[grants.bucket as string];
      expect(ended.every((arn) => ends !== undefined && arn.includes(ends))).toBe(true);
      expect(ended.length).toBe(ends === undefined ? 0 : 1);
      if (grants.bucket === "keep") expect(written).toEqual(ended);
      expect(actions.filter((action) => action === "sqs:ReceiveMessage")).toHaveLength(
        queues.length + (grants.receive?.length ?? 0),
      );
      const sends = new Set([
        ...(grants.send ?? []),
        ...[...queues.map(({ queue }) => queue), ...(grants.receive ?? [])]
          .map(deadLetterQueue)
          .filter((name) => !/-dlq-dlq$/.test(name)),
      ]);
      expect(actions.filter((action) => action === "sqs:SendMessage")).toHaveLength(sends.size);
    },
  );
});

test("the sweep may send to each queue whose lost messages it sends again", async () => {
  const source = await readFile(join(import.meta.dirname, "../../shared/crawl/recovery/sweep.ts"), "utf8");
  const resumed = {
    resumeImports: "imports",
    resumeExports: "exports",
    resumeRuns: "warc-runs",
    retellSchedules: "source-schedules",
  };
  const { grants } = TOPOLOGY.functions.find(({ name }) => name === "sweep") as FunctionSpec;
  for (const [name, queue] of Object.entries(resumed)) {
    expect(source).toContain(name);
    expect(grants.send, name).toContain(queue);
  }
});

describe("queues", () => {
  const queueNames = TOPOLOGY.queues.flatMap(({ name }) => [name, deadLetterQueue(name)]);
  const queueNamed = (name: string) =>
    properties("AWS::SQS::Queue").find((each) => each["QueueName"] === `strandline-${name}`);

  test("are exactly those of the topology, each with its dead-letter queue", () => {
    const names = properties("AWS::SQS::Queue").map(({ QueueName }) => QueueName);
    expect(names.toSorted()).toEqual(queueNames.map((name) => `strandline-${name}`).toSorted());
    for (const { name, maxReceiveCount } of TOPOLOGY.queues) {
      expect(queueNamed(name)?.["RedrivePolicy"], name).toMatchObject({ maxReceiveCount });
      expect(queueNamed(deadLetterQueue(name))?.["MessageRetentionPeriod"]).toBe(14 * 24 * 3600);
    }
  });

  test("hide a message for at least six times as long as its consumer may take", () => {
    for (const name of queueNames) {
      for (const spec of TOPOLOGY.functions.filter(({ queues }) => queues?.some(({ queue }) => queue === name))) {
        expect(queueNamed(name)?.["VisibilityTimeout"], name).toBeGreaterThanOrEqual(6 * spec.timeoutS);
      }
    }
  });

  test("are read with partial batch failures and a limit on concurrency", () => {
    const triggers = TOPOLOGY.functions
      .flatMap(({ queues = [] }) => queues)
      .filter(({ drainedEveryMinutes }) => drainedEveryMinutes === undefined);
    const mappings = properties("AWS::Lambda::EventSourceMapping");
    expect(mappings).toHaveLength(triggers.length);
    for (const mapping of mappings) {
      expect(mapping).toMatchObject({
        FunctionResponseTypes: ["ReportBatchItemFailures"],
        ScalingConfig: { MaximumConcurrency: expect.any(Number) },
      });
    }
  });
});

test("dead-letter queues are emptied by a schedule, and nothing polls them", () => {
  const drains = properties("AWS::Scheduler::Schedule").flatMap(({ ScheduleExpression, Target }) => {
    const { Input } = Target as { Input?: string };
    return Input === undefined ? [] : [{ ScheduleExpression, ...JSON.parse(Input) }];
  });
  const drain = TOPOLOGY.queues.map(({ name }) => deadLetterQueue(name));
  expect(drains).toEqual([{ ScheduleExpression: "rate(2 minutes)", drain }]);
});

describe("the API", () => {
  test("has every route of the topology and nothing else", () => {
    const byId = new Map(
      synthesis.resources("AWS::ApiGateway::Resource").map((each) => [each.logicalId, each.Properties]),
    );
    const pathOf = (reference: unknown): string => {
      const { Ref } = reference as { Ref?: string };
      const resource = Ref === undefined ? undefined : byId.get(Ref);
      return resource === undefined ? "" : `${pathOf(resource["ParentId"])}/${resource["PathPart"]}`;
    };
    const actual = properties("AWS::ApiGateway::Method").map(({ HttpMethod, ResourceId, Integration }) => {
      const { ResponseTransferMode } = Integration as { ResponseTransferMode?: string };
      return `${HttpMethod} ${pathOf(ResourceId) || "/"}${ResponseTransferMode === "STREAM" ? " streaming" : ""}`;
    });
    const declared = TOPOLOGY.functions.flatMap((spec) =>
      gatewayMethods(spec).map(
        ({ method, resource, streaming }) => `${method} ${resource}${streaming ? " streaming" : ""}`,
      ),
    );
    expect(actual.toSorted()).toEqual(declared.toSorted());
  });

  test("has all below a function's own paths go to it, streamed or not whatever it is", () => {
    for (const spec of TOPOLOGY.functions) {
      const { name, below = [], routes = [] } = spec;
      const inside = (path: string) => below.some((base) => path.startsWith(`${base}/`));
      const others = TOPOLOGY.functions.filter((other) => other.name !== name);
      expect(others.flatMap((other) => other.routes ?? []).filter(({ path }) => inside(path))).toEqual([]);
      const methods = gatewayMethods(spec).map(({ method, resource, streaming }) => ({ method, resource, streaming }));
      for (const { method, path, streaming = false } of routes.filter((route) => inside(route.path))) {
        const base = below.find((each) => path.startsWith(`${each}/`));
        expect(methods).toContainEqual({ method, resource: `${base}/{proxy+}`, streaming });
      }
    }
  });

  test("lets a streamed answer take as long as its function may", () => {
    const streamed = properties("AWS::ApiGateway::Method")
      .map(({ Integration }) => Integration as { ResponseTransferMode?: string; TimeoutInMillis?: number })
      .filter(({ ResponseTransferMode }) => ResponseTransferMode === "STREAM");
    const declared = TOPOLOGY.functions.flatMap((spec) =>
      gatewayMethods(spec)
        .filter(({ streaming }) => streaming)
        .map(() => spec.timeoutS * 1000),
    );
    expect(streamed.map(({ TimeoutInMillis }) => TimeoutInMillis).toSorted()).toEqual(declared.toSorted());
  });

  test("is throttled, and logs accesses without bodies", () => {
    expect(properties("AWS::ApiGateway::Stage")).toEqual([
      expect.objectContaining({
        AccessLogSetting: expect.anything(),
        MethodSettings: [
          expect.objectContaining({ DataTraceEnabled: false, ThrottlingRateLimit: expect.any(Number) }),
          {
            HttpMethod: "GET",
            ResourcePath: "/~1api~1snapshots~1{id}~1compare-live",
            ThrottlingRateLimit: 6,
            ThrottlingBurstLimit: 6,
            DataTraceEnabled: false,
            LoggingLevel: "ERROR",
            MetricsEnabled: true,
          },
        ],
      }),
    ]);
    const answers = properties("AWS::ApiGateway::GatewayResponse");
    const throttled = answers.find(({ ResponseType }) => ResponseType === "THROTTLED");
    expect(throttled).toMatchObject({
      StatusCode: "429",
      ResponseParameters: { "gatewayresponse.header.Retry-After": "'5'" },
    });
  });
});

describe("the WebSocket API", () => {
  test("has one function behind its three routes, and answers what $default is sent", () => {
    const [behind, ...others] = TOPOLOGY.functions.filter(({ websocket }) => websocket);
    expect(others).toEqual([]);
    const id = functionOf(behind as FunctionSpec).logicalId;
    const routes = properties("AWS::ApiGatewayV2::Route").map(({ RouteKey }) => RouteKey);
    expect(routes.toSorted()).toEqual(["$connect", "$default", "$disconnect"]);
    const integrations = properties("AWS::ApiGatewayV2::Integration");
    expect(integrations).toHaveLength(3);
    for (const { IntegrationUri } of integrations) expect(JSON.stringify(IntegrationUri)).toContain(id);
    expect(properties("AWS::ApiGatewayV2::RouteResponse")).toHaveLength(1);
  });

  test("is throttled, and logs neither query strings nor headers", () => {
    const stages = properties("AWS::ApiGatewayV2::Stage");
    expect(stages).toEqual([
      expect.objectContaining({
        DefaultRouteSettings: { ThrottlingRateLimit: expect.any(Number), ThrottlingBurstLimit: expect.any(Number) },
      }),
    ]);
    const [format = "{}"] = stages.map(({ AccessLogSettings }) => (AccessLogSettings as { Format: string }).Format);
    const logged = Object.values(JSON.parse(format) as Record<string, string>);
    expect(logged.filter((each) => /query|param|header|protocol|path/i.test(each))).toEqual([]);
    expect(logged).toContain("$context.status");
  });

  test("lets one function write to its connections, and that one knows where", () => {
    const allowed = TOPOLOGY.functions.filter((spec) => allows(spec, "execute-api"));
    expect(allowed).toEqual(TOPOLOGY.functions.filter(({ grants }) => grants.connections));
    const [spec] = allowed as [FunctionSpec];
    const granted = statementsOf(spec).filter(({ Action }) => Action.includes("execute-api:ManageConnections"));
    expect(granted.flatMap(({ Action }) => Action)).toEqual(["execute-api:ManageConnections"]);
    for (const arn of granted.flatMap(({ Resource }) => Resource)) {
      expect(arn).toMatch(/live\/(POST|DELETE)\/@connections\/\*/);
    }
    const { Variables } = functionOf(spec).Properties["Environment"] as { Variables: Record<string, unknown> };
    expect(textOf(Variables["AWS_ENDPOINT_URL_APIGATEWAYMANAGEMENTAPI"])).toMatch(/^https:.*\/live$/);
  });
});

describe("uploads", () => {
  const listening = TOPOLOGY.queues.filter(({ objects }) => objects !== undefined);

  test("are told of by the bucket itself, to the queues of the topology and no others", () => {
    const [{ NotificationConfiguration: notifications } = {}] = properties("AWS::S3::Bucket");
    const { QueueConfigurations: rules } = notifications as {
      QueueConfigurations: { Event: string; Queue: unknown; Filter: { S3Key: { Rules: { Value: string }[] } } }[];
    };
    const told = rules.map(({ Event, Filter }) => [Event, ...Filter.S3Key.Rules.map(({ Value }) => Value)]);
    const declared = listening.flatMap(({ objects = [] }) =>
      objects.map(({ prefix, suffix }) => ["s3:ObjectCreated:*", prefix, suffix]),
    );
    expect(told).toEqual(declared);
    expect(synthesis.resources("Custom::S3BucketNotifications")).toEqual([]);
  });

  test("come from this account's bucket, which waits for the permission to send", () => {
    const policies = synthesis.resources("AWS::SQS::QueuePolicy").filter((each) => {
      const { Statement } = each.Properties["PolicyDocument"] as { Statement: Record<string, unknown>[] };
      return Statement.some(({ Principal }) => JSON.stringify(Principal)?.includes("s3.amazonaws.com"));
    });
    expect(policies).toHaveLength(listening.length);
    for (const { Properties } of policies) {
      expect(JSON.stringify(Properties["PolicyDocument"])).toContain("aws:SourceAccount");
    }
    const [bucket] = synthesis.resources("AWS::S3::Bucket");
    expect(bucket?.DependsOn).toEqual(expect.arrayContaining(policies.map(({ logicalId }) => logicalId)));
  });

  test("are written by nobody whom they wake", () => {
    for (const { name } of listening) {
      const consumers = TOPOLOGY.functions.filter(({ queues }) => queues?.some(({ queue }) => queue === name));
      expect(consumers.length).toBeGreaterThan(0);
      for (const { grants, name: consumer } of consumers) expect(grants.bucket, consumer).toBe("write");
    }
  });
});

describe("data", () => {
  test("buckets are private and encrypted; what holds the archive is versioned and kept", () => {
    const buckets = synthesis.resources("AWS::S3::Bucket");
    expect(buckets.map(({ stack, DeletionPolicy }) => [stack, DeletionPolicy])).toEqual([
      ["strandline-data", "Retain"],
      ["strandline-console", "Delete"],
    ]);
    expect(buckets[0]?.Properties["VersioningConfiguration"]).toEqual({ Status: "Enabled" });
    for (const { Properties } of buckets) {
      expect(Properties).toMatchObject({
        BucketEncryption: expect.anything(),
        PublicAccessBlockConfiguration: {
          BlockPublicAcls: true,
          BlockPublicPolicy: true,
          IgnorePublicAcls: true,
          RestrictPublicBuckets: true,
        },
      });
    }
  });

  test("capture batches, exports and found URLs end after 30 days, what is cached or made for one reader after one or two, WARCs never", () => {
    const [{ LifecycleConfiguration } = {}] = properties("AWS::S3::Bucket");
    const { Rules } = LifecycleConfiguration as { Rules: { Prefix?: string; ExpirationInDays?: number }[] };
    const expiring = Rules.filter(({ ExpirationInDays }) => ExpirationInDays !== undefined);
    const days = Object.fromEntries(expiring.map(({ Prefix, ExpirationInDays }) => [Prefix, ExpirationInDays]));
    expect(days).toEqual({
      "cache/": 2,
      "captures/": 30,
      "discoveries/": 30,
      "exports/": 30,
      "media/": 1,
      "uploads/": 1,
    });
  });

  test("WARCs and uploads move to a storage class that answers at once, as the deployment says, or stay", () => {
    const rulesOf = (bucket: Record<string, unknown>) =>
      (bucket["LifecycleConfiguration"] as { Rules: { Prefix?: string; Transitions?: unknown[] }[] }).Rules;
    const moved = (rules: ReturnType<typeof rulesOf>) =>
      Object.fromEntries(rules.filter(({ Transitions }) => Transitions).map((rule) => [rule.Prefix, rule.Transitions]));
    const usual = [{ StorageClass: "INTELLIGENT_TIERING", TransitionInDays: 30 }];
    const [bucket = {}] = properties("AWS::S3::Bucket");
    expect(moved(rulesOf(bucket))).toEqual({ "warcs/": usual, "incoming/": usual });
    for (const asynchronous of ["GLACIER", "DEEP_ARCHIVE"]) {
      const app = new App({ context: { warcStorageClass: asynchronous } });
      expect(() => readSettings(app)).toThrow("warcStorageClass");
    }
  });

  test("the state table forgets by itself", () => {
    expect(properties("AWS::DynamoDB::Table")).toEqual([
      expect.objectContaining({
        BillingMode: "PAY_PER_REQUEST",
        KeySchema: [{ AttributeName: "pk", KeyType: "HASH" }],
        TimeToLiveSpecification: { AttributeName: "expires_at", Enabled: true },
      }),
    ]);
  });

  test("the database pauses when idle, is encrypted, and keeps its password to itself", () => {
    expect(properties("AWS::RDS::DBCluster")).toEqual([
      expect.objectContaining({
        ServerlessV2ScalingConfiguration: expect.objectContaining({ MinCapacity: 0, SecondsUntilAutoPause: 600 }),
        StorageEncrypted: true,
        DeletionProtection: true,
        ManageMasterUserPassword: true,
      }),
    ]);
  });
});

describe("schedules and deployment", () => {
  test("schedules are those of the topology", () => {
    const declared = TOPOLOGY.functions.flatMap(({ schedules = [] }) => schedules);
    const rates = properties("AWS::Scheduler::Schedule").map(({ ScheduleExpression }) => ScheduleExpression);
    const rateOf = (count: number, unit: string) => `rate(${count} ${unit}${count === 1 ? "" : "s"})`;
    const expected = declared.map(({ everyMinutes }) =>
      everyMinutes % 60 === 0 ? rateOf(everyMinutes / 60, "hour") : rateOf(everyMinutes, "minute"),
    );
    // and one that empties queues, see above
    expect(rates.toSorted()).toEqual([...expected, "rate(2 minutes)"].toSorted());
  });

  test("those of sources fire into their queue and nowhere else, with a role for their group alone", () => {
    const [group] = properties("AWS::Scheduler::ScheduleGroup").filter(({ Name }) => Name === "strandline-sources");
    expect(group).toBeDefined();
    const { Properties, logicalId } =
      synthesis.resources("AWS::IAM::Role").find((each) => each.logicalId.startsWith("SourceSchedulesRole")) ??
      expect.fail("no role");
    const trust = JSON.stringify(Properties["AssumeRolePolicyDocument"]);
    expect(trust).toContain("scheduler.amazonaws.com");
    expect(trust).toMatch(/"aws:SourceArn":.*schedule-group\/strandline-sources/);
    const policies = synthesis
      .resources("AWS::IAM::Policy")
      .filter((each) => JSON.stringify(each.Properties["Roles"]).includes(`"${logicalId}"`))
      .map((each) => each.Properties["PolicyDocument"] as { Statement: { Action: string; Resource: unknown }[] });
    expect(policies.flatMap(({ Statement }) => Statement)).toMatchObject([{ Action: "sqs:SendMessage" }]);
    expect(JSON.stringify(policies)).toMatch(/queuesourceruns/);
    const keeper = TOPOLOGY.functions.find(({ name }) => name === "source-schedules") as FunctionSpec;
    const passed = statementsOf(keeper).filter(({ Action }) => Action.includes("iam:PassRole"));
    expect(passed).toHaveLength(1);
    expect(passed[0]?.Resource.join()).toContain(logicalId);
    const kept = statementsOf(keeper).filter(({ Action }) => Action.includes("scheduler:CreateSchedule"));
    expect(kept[0]?.Resource.join()).toContain("schedule/strandline-sources/*");
  });

  test("the migration runs at each deployment, before any other function changes", async () => {
    const file = join(synthesis.app.outdir, "strandline-pipeline.template.json");
    const { Resources } = JSON.parse(await readFile(file, "utf8"));
    const triggers = Object.entries<Resource>(Resources).filter(([, each]) => each.Type === "Custom::Trigger");
    expect(triggers.map(([id]) => id).toSorted()).toEqual([
      expect.stringMatching(/^DatabaseUserRun/),
      expect.stringMatching(/^runmigrate/),
    ]);
    const ingest = Object.entries<Resource & { DependsOn?: string[] }>(Resources).find(([id]) =>
      /^functioningestFunction[0-9A-F]{8}$/.test(id),
    );
    expect(ingest?.[1].DependsOn).toContain(triggers.find(([id]) => id.startsWith("runmigrate"))?.[0]);
  });
});

describe("alarms", () => {
  test("may publish to their topic, those of this account alone", () => {
    const [policy] = properties("AWS::SNS::TopicPolicy") as { PolicyDocument: { Statement: object[] } }[];
    expect(policy?.PolicyDocument.Statement).toContainEqual(
      expect.objectContaining({
        Effect: "Allow",
        Action: "sns:Publish",
        Principal: { Service: "cloudwatch.amazonaws.com" },
        Condition: { StringEquals: { "aws:SourceAccount": { Ref: "AWS::AccountId" } } },
      }),
    );
  });

  test("watch what dead-letter finds, the age of every queue, the API and every function without routes", () => {
    const names = properties("AWS::CloudWatch::Alarm").map(({ AlarmName }) => AlarmName);
    for (const { name } of TOPOLOGY.queues) expect(names).toContain(`strandline-${name}-age`);
    for (const { name, routes } of TOPOLOGY.functions)
      expect(names.includes(`strandline-${name}-errors`), name).toBe(routes === undefined);
    expect(names).toContain("strandline-dead-letters");
    expect(names).toContain("strandline-api-5xx");
    // what it finds it tells of, and where it fails messages stay
    const alarms = properties("AWS::CloudWatch::Alarm");
    const alarm = (name: string) => alarms.find(({ AlarmName }) => AlarmName === `strandline-${name}`);
    expect(alarm("dead-letters")).toMatchObject({
      Namespace: "Strandline/strandline",
      MetricName: "messages",
      Threshold: 1,
    });
    expect(alarm("dead-letter-errors")).toMatchObject({ Threshold: 1 });
  });

  test("each leads to a section of the runbook that exists", async () => {
    const runbook = await readFile(join(import.meta.dirname, "..", "..", "docs", "operations.md"), "utf8");
    const anchors = [...runbook.matchAll(/^#+ (.+)$/gm)].map(([, heading = ""]) =>
      heading
        .toLowerCase()
        .replaceAll(/[^a-z0-9 -]/g, "")
        .replaceAll(" ", "-"),
    );
    for (const { AlarmDescription, AlarmName } of properties("AWS::CloudWatch::Alarm")) {
      const [, anchor] = /docs\/operations\.md#(\S+)$/.exec(String(AlarmDescription)) ?? [];
      expect(anchors, String(AlarmName)).toContain(anchor);
    }
  });
});

describe("cdk-nag", () => {
  test("has no finding that nobody acknowledged", () => {
    const { violations } = new AwsSolutionsChecks(synthesis.app).validateScope(synthesis.app);
    expect(violations).toEqual([]);
  });

  test("reports what is wrong, until it is acknowledged", () => {
    const app = new App();
    const bucket = new CfnBucket(new Stack(app, "stack"), "bucket");
    const findings = () => new AwsSolutionsChecks(app).validateScope(app).violations.map(({ ruleName }) => ruleName);
    expect(findings()).toContain("AwsSolutions-S1");
    acknowledge(bucket, ["S1"], "a bucket of a test");
    expect(findings()).not.toContain("AwsSolutions-S1");
  });
});

/** A template value as some text: references become their names. */
function textOf(value: unknown): string {
  if (typeof value === "string") return value;
  const { "Fn::Join": join, Ref, "Fn::ImportValue": imported } = value as Record<string, unknown>;
  if (Array.isArray(join)) return (join[1] as unknown[]).map(textOf).join("");
  return String(Ref ?? imported);
}
