/** One function of the topology: its bundle, its role with no more than its grants, its environment and its log. */
import { Duration, RemovalPolicy, SecretValue, Size, Stack } from "aws-cdk-lib";
import { type IVpc, type SecurityGroup, SubnetType } from "aws-cdk-lib/aws-ec2";
import { Effect, PolicyStatement, Role, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import {
  Architecture,
  Code,
  type IFunction,
  Function as LambdaFunction,
  LayerVersion,
  RecursiveLoop,
  Runtime,
} from "aws-cdk-lib/aws-lambda";
import { LogGroup, RetentionDays } from "aws-cdk-lib/aws-logs";
import type { Bucket } from "aws-cdk-lib/aws-s3";
import type { IQueue } from "aws-cdk-lib/aws-sqs";
import { Construct } from "constructs";
import { EMBEDDING_MODEL_LAYER, EMBEDDING_MODEL_PATH } from "../../layers/embedding-model/embedding-model-layer.ts";
import { acknowledge } from "../acknowledge.ts";
import type { Bundle } from "../bundle.ts";
import type { LayerFolders } from "../layers.ts";
import { defaultEmbedder, metricsNamespace, type Settings } from "../settings.ts";
import type { DataStack } from "../stacks/data.ts";
import type { Engines } from "../stacks/engines.ts";
import type { Inference } from "../stacks/inference.ts";
import type { NetworkStack } from "../stacks/network.ts";
import type { RenderingService } from "../stacks/rendering.ts";
import { concurrencyLimit, deadLetterQueue, type FunctionSpec } from "../topology/spec.ts";
import type { SourceSchedules } from "./source-schedules.ts";

/** What every function is built from. */
export interface Surroundings {
  settings: Settings;
  bundles: ReadonlyMap<string, Bundle>;
  layers: LayerFolders;
  network: NetworkStack;
  data: DataStack;
  /** By their name in the topology, dead-letter queues included. */
  queues: ReadonlyMap<string, IQueue>;
  /** The layer of functions that run a browser. */
  chromium?: LayerVersion;
  /** The Crawl4AI service, where there is one. */
  rendering?: RenderingService | undefined;
  /** Engines of archive jobs that run as tasks, where there are any. */
  engines?: Engines | undefined;
  /** Servers of models and vectors that are deployed with the rest. */
  inference: Inference;
  /** Where the function stands that keeps the schedules of monitored sources. */
  sourceSchedules?: SourceSchedules;
  /** Where captures are replayed; absent while that itself is built. */
  replayUrl?: string;
}

/**
 * Amazon's certificate authorities, which signed Aurora's certificate; Node.js runtimes no longer load them unasked.
 */
const AMAZON_CERTIFICATES = "/var/runtime/ca-cert.pem";

const API_CONNECT_TIMEOUT_S = 20;

type Access = NonNullable<FunctionSpec["grants"]["bucket"]>;

/** The object prefixes that functions write, and the one where uploads lie. */
const EXPORTED_KEYS = ["exports/*"];
const WRITTEN_KEYS = ["captures/*", "warcs/*", "media/*", "discoveries/*", ...EXPORTED_KEYS];
const UPLOADED_KEYS = ["incoming/*"];
const CACHED_KEYS = ["cache/*"];
const DOCUMENT_KEYS = ["uploads/*"];
const KEPT_KEYS = ["warcs/*"];
const ENGINE_KEYS = ["archive-jobs/*"];
const PREVIEW_KEYS = ["previews/*"];
const OBJECT_KEYS = [...WRITTEN_KEYS, ...UPLOADED_KEYS];
const PUT_KEYS = {
  write: WRITTEN_KEYS,
  upload: UPLOADED_KEYS,
  cache: CACHED_KEYS,
  documents: DOCUMENT_KEYS,
  engine: [...ENGINE_KEYS, ...PREVIEW_KEYS],
  keep: KEPT_KEYS,
};
/** Read beside what functions write and what is uploaded. */
const MORE_KEYS: Partial<Record<Access, readonly string[]>> = {
  engine: [...ENGINE_KEYS, ...PREVIEW_KEYS],
  keep: ENGINE_KEYS,
  clear: PREVIEW_KEYS,
};
const DELETED_KEYS = { keep: KEPT_KEYS, clear: ENGINE_KEYS, exports: EXPORTED_KEYS };
/** Of those that read nothing else. */
const OWN_KEYS: Partial<Record<Access, readonly string[]>> = {
  cache: CACHED_KEYS,
  documents: DOCUMENT_KEYS,
  exports: EXPORTED_KEYS,
};

/** Chromium unpacks to 0.2 GB, and its pages may write as well. */
const UNPACKED_BROWSER = Size.gibibytes(1);

export class StrandlineFunction extends Construct {
  readonly spec: FunctionSpec;
  readonly lambda: LambdaFunction;
  readonly environment: Record<string, string>;
  readonly role: Role;

  constructor(scope: Construct, spec: FunctionSpec, surroundings: Surroundings) {
    super(scope, `function-${spec.name}`);
    this.spec = spec;
    const { bundles } = surroundings;
    const bundle = bundles.get(spec.name);
    if (bundle === undefined)
      throw new Error(`There is no bundle of ${spec.name}: does functions/${spec.name}/handler.ts exist?`);
    const logGroup = new LogGroup(this, "Log", {
      retention: RetentionDays.ONE_MONTH,
      removalPolicy: RemovalPolicy.DESTROY,
    });
    const placed = networkOf(spec, surroundings);
    this.role = this.createRole(logGroup, placed !== undefined);
    this.environment = environmentOf(spec, surroundings);
    const reserves = surroundings.settings.size === "standard" && spec.network === "private";
    const limit = reserves ? concurrencyLimit(spec) : undefined;
    this.lambda = new LambdaFunction(this, "Function", {
      // other stacks know it by this, and whoever looks for its log or calls it
      functionName: functionName(surroundings.settings.name, spec.name),
      description: spec.about,
      runtime: Runtime.NODEJS_24_X,
      architecture: spec.browser ? Architecture.X86_64 : Architecture.ARM_64,
      layers: this.layersOf(surroundings),
      ...(spec.browser ? { ephemeralStorageSize: UNPACKED_BROWSER } : {}),
      code: Code.fromAsset(bundle.directory),
      handler: "index.handler",
      timeout: Duration.seconds(spec.timeoutS),
      memorySize: spec.memoryMb,
      environment: this.environment,
      logGroup,
      role: this.role,
      ...(spec.cycleEnds === undefined ? {} : { recursiveLoop: RecursiveLoop.ALLOW }),
      ...(limit === undefined ? {} : { reservedConcurrentExecutions: limit }),
      ...(placed && { ...placed, vpcSubnets: { subnetType: SubnetType.PRIVATE_ISOLATED } }),
    });
    this.grant(surroundings);
  }

  private layersOf(surroundings: Surroundings): LayerVersion[] {
    if (this.spec.browser) return [chromiumOf(this.spec, surroundings)];
    if (!embedsItself(this.spec, surroundings)) return [];
    const stack = Stack.of(this);
    const known = stack.node.tryFindChild("EmbeddingModel");
    if (known instanceof LayerVersion) return [known];
    // one for each stack: a layer that one gives to another cannot be replaced while the other holds on to it
    const layer = new LayerVersion(stack, "EmbeddingModel", {
      description: EMBEDDING_MODEL_LAYER.about,
      code: Code.fromAsset(surroundings.layers.embeddingModel),
      compatibleRuntimes: [Runtime.NODEJS_24_X],
    });
    return [layer];
  }

  /** Its own log, and for a private function its network interface; all else comes from the grants. */
  private createRole(logGroup: LogGroup, inVpc: boolean): Role {
    const role = new Role(this, "Role", { assumedBy: new ServicePrincipal("lambda.amazonaws.com") });
    logGroup.grantWrite(role);
    if (!inVpc) return role;
    role.addToPolicy(
      new PolicyStatement({
        effect: Effect.ALLOW,
        actions: [
          "ec2:CreateNetworkInterface",
          "ec2:DescribeNetworkInterfaces",
          "ec2:DescribeSubnets",
          "ec2:DeleteNetworkInterface",
          "ec2:AssignPrivateIpAddresses",
          "ec2:UnassignPrivateIpAddresses",
        ],
        resources: ["*"],
      }),
    );
    acknowledge(
      role,
      ["IAM5[Resource::*]"],
      "Lambda asks for these actions on every resource to put a function into a VPC",
    );
    return role;
  }

  private grant({ data, queues, engines, sourceSchedules }: Surroundings): void {
    const { grants, queues: triggers = [] } = this.spec;
    // a consumer sends what it can never handle to the dead-letter queue itself
    const consumed = [...triggers.map(({ queue }) => queue), ...(grants.receive ?? [])];
    const deadLetters = consumed.map(deadLetterQueue).filter((name) => queues.has(name));
    for (const name of new Set([...(grants.send ?? []), ...deadLetters]))
      queueNamed(queues, name).grantSendMessages(this.lambda);
    for (const queue of consumed) queueNamed(queues, queue).grantConsumeMessages(this.lambda);
    if (grants.stateTable) this.allow(data.stateTable.tableArn, ...STATE_ACTIONS);
    if (grants.database) this.allow(data.databaseUserArn, "rds-db:connect");
    if (grants.providerKeys) data.providerKeys.grantRead(this.lambda);
    if (grants.tasks) engines?.allowTasks(this.lambda);
    if (grants.schedules) sourceSchedules?.allow(this.lambda);
    if (grants.bucket !== undefined) this.allowObjects(data.bucket, grants.bucket);
  }

  private allowObjects(bucket: Bucket, access: Access): void {
    const { bucketArn } = bucket;
    const arnsOf = (keys: readonly string[]) => keys.map((each) => `${bucketArn}/${each}`);
    this.allow(bucketArn, "s3:ListBucket");
    const read = OWN_KEYS[access] ?? [...OBJECT_KEYS, ...(MORE_KEYS[access] ?? [])];
    this.allow(arnsOf(read), "s3:GetObject");
    // an upload in parts may be given up
    if (access !== "read" && access !== "clear" && access !== "exports")
      this.allow(arnsOf(PUT_KEYS[access]), "s3:PutObject", "s3:AbortMultipartUpload");
    if (access === "keep" || access === "clear" || access === "exports")
      this.allow(arnsOf(DELETED_KEYS[access]), "s3:DeleteObject");
    // the name under which the other stack exports the ARN is how the finding names it
    const { "Fn::ImportValue": arn } = Stack.of(this).resolve(Stack.of(bucket).exportValue(bucketArn));
    acknowledge(
      this,
      [...read, ...(access === "clear" ? DELETED_KEYS.clear : [])].map((keys) => `IAM5[Resource::${arn}/${keys}]`),
      "Objects below the known prefixes of our own bucket; their names are made at run time",
    );
  }

  private allow(resources: string | string[], ...actions: string[]): void {
    this.lambda.addToRolePolicy(new PolicyStatement({ actions, resources: [resources].flat() }));
  }
}

const functionName = (prefix: string, name: string): string => `${prefix}-${name}`;

/** A function as another stack knows it: by its name, see `queuesByName`. */
export const functionNamed = (scope: Construct, prefix: string, name: string): IFunction =>
  LambdaFunction.fromFunctionName(scope, `function-${name}`, functionName(prefix, name));

/** Where it stands: the private network, that of the renderer which asks web sites for it, or none. */
function networkOf(
  { network, grants }: FunctionSpec,
  { network: ours, rendering, inference }: Surroundings,
): { vpc: IVpc; securityGroups: SecurityGroup[] } | undefined {
  if (network === "private") {
    const asked = ASKED.filter((server) => grants[server]).flatMap((server) => inference[server]?.callers ?? []);
    return { vpc: ours.vpc, securityGroups: [ours.functionSecurityGroup, ...asked] };
  }
  if (grants.renderer && rendering) return { vpc: rendering.vpc, securityGroups: [rendering.callers] };
  return undefined;
}

const ASKED = ["embedder", "reranker", "vectors"] as const;

/** Resolved when it is deployed, as those of servers elsewhere. */
function keysOf({ grants }: FunctionSpec, inference: Inference): Record<string, string> {
  const variables = { embedder: "TEI__API_KEY", reranker: "TEI__RERANK_API_KEY", vectors: "QDRANT__API_KEY" };
  return Object.fromEntries(
    ASKED.filter((server) => grants[server]).flatMap((server) => {
      const key = inference[server]?.key;
      return key === undefined ? [] : [[variables[server], key.secretValue.unsafeUnwrap()]];
    }),
  );
}

function chromiumOf({ name }: FunctionSpec, { chromium }: Surroundings): LayerVersion {
  if (chromium === undefined) throw new Error(`${name} runs a browser, and its stack has no Chromium layer`);
  return chromium;
}

/** Single items only: nothing scans the table. */
const STATE_ACTIONS = [
  "dynamodb:GetItem",
  "dynamodb:BatchGetItem",
  "dynamodb:PutItem",
  "dynamodb:UpdateItem",
  "dynamodb:DeleteItem",
];

function queueNamed(queues: ReadonlyMap<string, IQueue>, name: string): IQueue {
  const queue = queues.get(name);
  if (queue === undefined) throw new Error(`The topology names no queue ${name}`);
  return queue;
}

/** Whether it needs the default model's files. */
const embedsItself = (spec: FunctionSpec, { settings }: Pick<Surroundings, "settings">): boolean =>
  spec.grants.embedder === true && defaultEmbedder(settings) !== "none";

/** Model and dimension name the collection of the vectors, which others than embedders read. */
function embeddingServers({ teiUrl, teiModel, teiDimension, ...settings }: Settings): Record<string, string> {
  const { openAiUrl, openAiModel, openAiDimension } = settings;
  return {
    ...(teiUrl === undefined ? {} : { TEI__URL: teiUrl }),
    ...(teiModel === undefined ? {} : { TEI__EMBEDDING_MODEL: teiModel }),
    ...(teiDimension === undefined ? {} : { TEI__EMBEDDING_DIMENSION: String(teiDimension) }),
    ...(openAiUrl === undefined ? {} : { OPENAI__URL: openAiUrl }),
    ...(openAiModel === undefined ? {} : { OPENAI__EMBEDDING_MODEL: openAiModel }),
    ...(openAiDimension === undefined ? {} : { OPENAI__EMBEDDING_DIMENSION: String(openAiDimension) }),
  };
}

function embeddingKeys({ teiKeySecret, openAiKeySecret }: Settings): Record<string, string> {
  return {
    ...(teiKeySecret === undefined ? {} : { TEI__API_KEY: textOf(teiKeySecret) }),
    ...(openAiKeySecret === undefined ? {} : { OPENAI__API_KEY: textOf(openAiKeySecret) }),
  };
}

function rerankingServer({ rerankUrl, rerankKeySecret }: Settings): Record<string, string> {
  return {
    ...(rerankUrl === undefined ? {} : { TEI__RERANK_URL: rerankUrl }),
    ...(rerankKeySecret === undefined ? {} : { TEI__RERANK_API_KEY: textOf(rerankKeySecret) }),
  };
}

/** Resolved when it is deployed: where the function stands there is no way to Secrets Manager. */
const textOf = (secret: string): string => SecretValue.secretsManager(secret).unsafeUnwrap();

function environmentOf(
  spec: FunctionSpec,
  { settings, data, rendering, engines, inference, sourceSchedules, replayUrl }: Surroundings,
): Record<string, string> {
  const { region, urlSuffix, account } = Stack.of(data);
  const { qdrantUrl, qdrantKeySecret, userAgent, logLevel, name, publicArchive, archiveCorsOrigins } = settings;
  return {
    ...settings.variables,
    ARCHIVE__PUBLIC: String(publicArchive),
    ...(replayUrl === undefined ? {} : { ARCHIVE__REPLAY_URL: replayUrl }),
    ...(archiveCorsOrigins === undefined ? {} : { ARCHIVE__CORS_ORIGINS: archiveCorsOrigins }),
    LOG_LEVEL: logLevel,
    METRICS__NAMESPACE: metricsNamespace(settings),
    STORAGE__BUCKET: data.bucket.bucketName,
    STATE__TABLE: data.stateTable.tableName,
    QUEUES__URL_PREFIX: `https://sqs.${region}.${urlSuffix}/${account}/${name}-`,
    EMBEDDER__PROVIDER: defaultEmbedder(settings),
    ...(embedsItself(spec, { settings }) ? { EMBEDDER__MODEL_PATH: EMBEDDING_MODEL_PATH } : {}),
    ...embeddingServers(settings),
    ...(spec.grants.embedder ? embeddingKeys(settings) : {}),
    ...(spec.grants.reranker ? rerankingServer(settings) : {}),
    ...(qdrantUrl === undefined ? {} : { QDRANT__URL: qdrantUrl }),
    ...(settings.vectorStore === undefined ? {} : { VECTOR_STORE: settings.vectorStore }),
    ...(qdrantKeySecret === undefined || !spec.grants.vectors ? {} : { QDRANT__API_KEY: textOf(qdrantKeySecret) }),
    ...keysOf(spec, inference),
    ...(userAgent === undefined ? {} : { FETCH__USER_AGENT: userAgent }),
    // resolved when it is deployed: where the function stands there is no way to Secrets Manager
    ...(spec.grants.renderer && rendering
      ? { CRAWL4AI__URL: rendering.url, CRAWL4AI__TOKEN: rendering.token.secretValue.unsafeUnwrap() }
      : {}),
    ...(spec.grants.schedules ? sourceSchedules?.environment : {}),
    ...(spec.grants.tasks || spec.grants.bucket === "engine" ? engines?.environment : {}),
    ...(spec.grants.providerKeys ? { HARVEST__SECRET_ARN: data.providerKeys.secretArn } : {}),
    ...(spec.grants.database
      ? {
          // API Gateway waits for 29 s, and a database that resumes may take longer: the answer then says so
          ...(spec.routes === undefined ? {} : { DATABASE__CONNECT_TIMEOUT_S: String(API_CONNECT_TIMEOUT_S) }),
          DATABASE__POSTGRES_URL: data.databaseUrl,
          DATABASE__AUTH: "iam",
          NODE_EXTRA_CA_CERTS: AMAZON_CERTIFICATES,
        }
      : {}),
  };
}
