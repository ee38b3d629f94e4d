/**
 * What a deployment may choose, as CDK context: `npm run cdk -- deploy --all --context userAgent="…"`, or the `context`
 * object of `cdk.json`. Unknown or wrong values stop the synthesis with every problem listed.
 */
import type { App } from "aws-cdk-lib";
import { z } from "zod";
import { faultsOfVariables } from "./variables.ts";

const url = z.url({ protocol: /^https?$/ });

/** A digest, or a tag that names a version whole: what a tag that moves brings tomorrow was never tried. */
const PINNED = /^[^\s@]+(?:@sha256:[0-9a-f]{64}|:v?\d+\.\d+\.\d+[\w.-]*(?:@sha256:[0-9a-f]{64})?)$/;
const pinnedImage = z.string().regex(PINNED, {
  message: "must name a version, as unclecode/crawl4ai:0.9.2 or name@sha256:…, and no tag that moves",
});

const imageByDigest = z.string().regex(/^[^\s@]+@sha256:[0-9a-f]{64}$/, {
  message: "must name an image by its digest, as ghcr.io/openzim/zimit@sha256:…",
});

const dimension = z.coerce.number().int().min(1).max(65_536);
const flag = z.union([z.boolean(), z.enum(["true", "false"])]).transform((value) => String(value) === "true");
const secretName = z.string().regex(/^[\w/+=.@-]{1,512}$/, "must be the name of a secret in Secrets Manager");

/** Settings that belong to another one. */
const PARTS = [
  ["qdrantKeySecret", "qdrantUrl"],
  ["teiModel", "teiUrl"],
  ["teiDimension", "teiUrl"],
  ["teiKeySecret", "teiUrl"],
  ["openAiModel", "openAiUrl"],
  ["openAiDimension", "openAiUrl"],
  ["openAiKeySecret", "openAiUrl"],
  ["rerankKeySecret", "rerankUrl"],
  ["zimitUploaderBase", "zimitImage"],
  ["zimitImage", "zimitUploaderBase"],
  ["qdrantImage", "awsCliImage"],
  ["teiImage", "awsCliImage"],
  ["rerankImage", "awsCliImage"],
  ["rerankModel", "rerankImage"],
  ["consoleDomain", "consoleCertificate"],
  ["consoleCertificate", "consoleDomain"],
] as const;

/** A server of this deployment, and what names one that runs elsewhere. */
const SERVERS = [
  ["qdrantImage", "qdrantUrl", "http://qdrant", 6333, "qdrantKeySecret"],
  ["teiImage", "teiUrl", "http://tei", 8080, "teiKeySecret"],
  ["rerankImage", "rerankUrl", "http://reranker", 8080, "rerankKeySecret"],
] as const;

const settingsShape = z.strictObject({
  /** Goes before the name of every stack and queue, so that several deployments share an account. */
  name: z
    .string()
    .regex(/^[a-z][a-z0-9-]{0,24}$/)
    .default("strandline"),
  /** Qdrant, as reached from inside the VPC; without it there is keyword search only. */
  qdrantUrl: url.optional(),
  /** `pgvector`: vectors are kept in Aurora. Unset: in Qdrant where there is one. */
  vectorStore: z.enum(["qdrant", "pgvector"]).optional(),
  /** Name of a secret in Secrets Manager, whose text is Qdrant's API key. */
  qdrantKeySecret: secretName.optional(),
  /** Text Embeddings Inference, as reached from inside the VPC, in place of the model that comes along. */
  teiUrl: url.optional(),
  teiModel: z.string().min(1).optional(),
  teiDimension: dimension.optional(),
  /** Name of a secret in Secrets Manager, whose text is the server's `--api-key`. */
  teiKeySecret: secretName.optional(),
  /** Server with OpenAI's API for embeddings, as reached from inside the VPC, up to and with its version. */
  openAiUrl: url.optional(),
  openAiModel: z.string().min(1).optional(),
  openAiDimension: dimension.optional(),
  openAiKeySecret: secretName.optional(),
  /** Text Embeddings Inference with a reranker, as reached from inside the VPC. */
  rerankUrl: url.optional(),
  rerankKeySecret: secretName.optional(),
  /** Image of Qdrant by its digest: it runs in this deployment, on a machine with a disk of its own. */
  qdrantImage: imageByDigest.optional(),
  /** Of 64-bit Arm, as the image is run. */
  qdrantInstanceType: z
    .string()
    .regex(/^[a-z]\w*g\w*\.\w+$/, "must be a type of EC2 with Graviton, as t4g.medium")
    .default("t4g.medium"),
  qdrantDiskGib: z.coerce.number().int().min(8).max(16_384).default(50),
  /** Image of Text Embeddings Inference by its digest, for what `teiCompute` says: it runs in this deployment. */
  teiImage: imageByDigest.optional(),
  /** `gpu`: one machine with a GPU; `cpu`: a task of Fargate on 64-bit Arm. */
  teiCompute: z.enum(["cpu", "gpu"]).default("cpu"),
  /** Tasks of it that run while nothing is to be embedded. */
  teiIdle: z.coerce.number().int().min(0).max(1).default(0),
  /** Image of Text Embeddings Inference for 64-bit Arm by its digest: it runs a reranker in this deployment. */
  rerankImage: imageByDigest.optional(),
  rerankModel: z.string().min(1).optional(),
  /** Image of the AWS CLI by its digest: it brings models from the bucket, and snapshots of Qdrant into it. */
  awsCliImage: imageByDigest.optional(),
  /** Image of a Crawl4AI server, e.g. `unclecode/crawl4ai:0.9.2`, to render pages instead of Chromium. */
  crawl4aiImage: pinnedImage.optional(),
  /** Pages that it is given at once: some four for each of its vCPUs, of which it has two. */
  crawl4aiConcurrency: z.coerce.number().int().min(2).max(1000).default(6),
  /** Image of zimit by its digest, e.g. `ghcr.io/openzim/zimit@sha256:…`, for archive jobs of that engine. */
  zimitImage: imageByDigest.optional(),
  /** Of Node 24, by its digest, in which the uploader beside zimit runs; built when it is deployed. */
  zimitUploaderBase: imageByDigest.optional(),
  /** GiB that a crawl may take before it is uploaded. */
  zimitDiskGib: z.coerce.number().int().min(21).max(200).default(100),
  /** What fetches: the function that queues wake, or the same code as tasks of Fargate (Spot) that ask them. */
  fetchers: z.enum(["lambda", "fargate"]).default("lambda"),
  /** Of Node 24 for 64-bit Arm, by its digest, in which they run; built when it is deployed. */
  fetcherBase: imageByDigest.optional(),
  /** Tasks at the most; one is enough for some sixty hosts. */
  fetchersMost: z.coerce.number().int().min(1).max(1000).default(10),
  userAgent: z.string().min(1).optional(),
  /** Whether anybody may read and replay the archive, without a key. */
  publicArchive: flag.default(true),
  /** Origins whose pages may read it in a browser, separated by commas. */
  archiveCorsOrigins: z.string().min(1).optional(),
  /** Where S3 moves WARC files and uploads: classes that answer at once, since replay waits. */
  warcStorageClass: z.enum(["INTELLIGENT_TIERING", "STANDARD_IA", "GLACIER_IR", "none"]).default("INTELLIGENT_TIERING"),
  /** Their age by then; S3 takes no less for the class that is read rarely. */
  warcStorageDays: z.coerce.number().int().min(30).max(36_500).default(30),
  /** Whether the console is served by CloudFront, with the API behind the same origin. */
  console: flag.default(true),
  /** A name of your own for it, in place of CloudFront's. */
  consoleDomain: z.hostname().optional(),
  /** ARN of that name's certificate; CloudFront takes those of `us-east-1` alone. */
  consoleCertificate: z
    .string()
    .regex(/^arn:[\w-]+:acm:us-east-1:\d{12}:certificate\/[\w-]+$/, "must be a certificate of ACM in us-east-1")
    .optional(),
  logLevel: z.enum(["debug", "info", "warn", "error"]).default("info"),
  /** Where alarms go; nobody by default. */
  alarmEmail: z.email().optional(),
  /** Aurora capacity units at the most; one is about 2 GiB of memory. */
  databaseMaxAcu: z.coerce.number().min(1).max(256).default(4),
  /**
   * `small`: for an account that may run ten functions at once, as new ones may. Nothing is reserved, and a queue
   * wakes two of its function at the most.
   */
  size: z.enum(["standard", "small"]).default("standard"),
  /** Settings of the code that have none here, by their names in the environment; as JSON on the command line. */
  variables: z
    .preprocess((given) => (typeof given === "string" ? parsedJson(given) : given), z.record(z.string(), z.string()))
    .default({})
    .superRefine((variables, { addIssue }) => {
      for (const message of faultsOfVariables(variables)) addIssue({ code: "custom", message });
    }),
  /** Requests a second, of all keys together. */
  apiRequestsPerSecond: z.coerce.number().int().min(1).default(50),
});

const settingsSchema = settingsShape
  .superRefine((settings, { addIssue }) => {
    for (const [image, url, , , secret] of SERVERS) {
      if (settings[image] === undefined) continue;
      const elsewhere = [url, secret].filter((each) => settings[each] !== undefined);
      for (const each of elsewhere)
        addIssue({ code: "custom", path: [image], message: `runs what ${each} is for: choose one of them` });
    }
  })
  .transform((settings) => ({ ...settings, ...addressesOf(settings) }))
  .superRefine((settings, { addIssue }) => {
    const { vectorStore, qdrantUrl, teiUrl, openAiUrl } = settings;
    if (vectorStore === "qdrant" && qdrantUrl === undefined) {
      addIssue({ code: "custom", message: "vectorStore qdrant needs qdrantUrl" });
    }
    if (keepsVectors(settings)) return;
    const needed = "vectors have to be kept somewhere (or vectorStore pgvector)";
    if (teiUrl !== undefined) addIssue({ code: "custom", message: `teiUrl needs qdrantUrl: ${needed}` });
    if (openAiUrl !== undefined) addIssue({ code: "custom", message: `openAiUrl needs qdrantUrl: ${needed}` });
  })
  .superRefine(({ fetchers, fetcherBase }, { addIssue }) => {
    if (fetchers === "fargate" && fetcherBase === undefined)
      addIssue({ code: "custom", path: ["fetchers"], message: "fargate needs fetcherBase, an image of Node 24" });
    if (fetchers === "lambda" && fetcherBase !== undefined)
      addIssue({ code: "custom", path: ["fetcherBase"], message: "means nothing without fetchers fargate" });
  })
  .superRefine((settings, { addIssue }) => {
    for (const [of, needed] of PARTS) {
      if (settings[of] === undefined || settings[needed] !== undefined) continue;
      addIssue({ code: "custom", path: [of], message: `means nothing without ${needed}` });
    }
  });

export const SETTING_NAMES = Object.keys(settingsShape.shape);

/** Of the network that servers of this deployment have their names in. */
export const modelsDomain = ({ name }: { name: string }): string => `${name}-models.internal`;

function addressesOf(settings: z.infer<typeof settingsShape>) {
  const own = SERVERS.filter(([image]) => settings[image] !== undefined);
  const addresses = own.map(([, of, host, port]) => [of, `${host}.${modelsDomain(settings)}:${port}`]);
  return Object.fromEntries(addresses) as Partial<Record<(typeof SERVERS)[number][1], string>>;
}

function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

export type Settings = z.infer<typeof settingsSchema>;

function keepsVectors({ vectorStore, qdrantUrl }: Pick<Settings, "vectorStore" | "qdrantUrl">): boolean {
  return vectorStore === "pgvector" || qdrantUrl !== undefined;
}

/** What turns texts into vectors; of two servers, the first one while vectors of the other still answer. */
export function defaultEmbedder(settings: Settings): "none" | "tei" | "openai" | "static" {
  if (!keepsVectors(settings)) return "none";
  const { teiUrl, openAiUrl } = settings;
  if (teiUrl !== undefined) return "tei";
  return openAiUrl === undefined ? "static" : "openai";
}

/** Of the metrics in CloudWatch: several deployments share an account. */
export const metricsNamespace = ({ name }: Settings): string => `Strandline/${name}`;

/** @throws Error that lists every problem */
export function readSettings(app: App): Settings {
  const given = app.node.tryGetContext("strandline") ?? {};
  const overrides = SETTING_NAMES.map((key) => [key, app.node.tryGetContext(key)] as const).filter(
    ([, value]) => value !== undefined,
  );
  const parsed = settingsSchema.safeParse({ ...given, ...Object.fromEntries(overrides) });
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map(({ path, message }) => `${path.join(".") || "context"}: ${message}`);
  throw new Error(`The deployment's settings have ${problems.length} problem(s):\n  ${problems.join("\n  ")}`);
}
