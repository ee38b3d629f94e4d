/** SQS, S3 and DynamoDB on loopback, by their wire protocols. */
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { type EmbeddedCredentials, newCredentials } from "../front/credentials.ts";
import { createSignatureCheck, type SignatureCheck } from "../front/signature.ts";
import { freePort } from "../ports.ts";
import { startDynamo } from "./dynamo.ts";
import { createFauxqs, type Fauxqs, type FauxqsApp } from "./fauxqs.ts";
import { guardFauxqs } from "./fauxqs-front.ts";

export interface AwsOptions {
  /** Where state is kept; in memory where it is not given. */
  directory?: string;
  /** That all callers sign with; new ones where they are not given. */
  credentials?: EmbeddedCredentials;
  /** Taken if they are free; 0: any free one. */
  ports?: { sqsAndS3?: number; dynamo?: number };
  /** Adds hooks to the HTTP app of SQS and S3 before it listens. */
  prepare?: (app: FauxqsApp) => void;
  /** Told of each DynamoDB call that arrived, by its operation and the size of its request. */
  onDynamoCall?: (operation: string, bytes: number) => void;
}

export interface LocalAws {
  /** Environment by which the AWS SDK and the configuration find all this. */
  env: Record<string, string>;
  /** `http://127.0.0.1:PORT` */
  sqsAndS3: string;
  dynamo: string;
  ports: { sqsAndS3: number; dynamo: number };
  /** A queue's URL is this and its name. */
  queueUrlPrefix: string;
  /** Tells calls that are signed with the credentials of this start. */
  signatures: SignatureCheck;
  fauxqs: Fauxqs;
  stop(): Promise<void>;
}

export const REGION = "us-east-1";
/** What fauxqs names its queues' owner. */
export const ACCOUNT = "000000000000";

export async function startAws(options: AwsOptions = {}): Promise<LocalAws> {
  const { directory, credentials = newCredentials(), ports = {}, prepare, onDynamoCall } = options;
  if (directory !== undefined) await mkdir(directory, { recursive: true, mode: 0o700 });
  const signatures = createSignatureCheck(credentials);
  const fauxqs = createFauxqs(directory, REGION);
  guardFauxqs(fauxqs.app, signatures);
  prepare?.(fauxqs.app);
  const starting = startDynamo({
    directory: directory === undefined ? undefined : join(directory, "dynamo"),
    port: ports.dynamo ?? 0,
    signatures,
    onCall: (operation, bytes) => onDynamoCall?.(operation, bytes),
  });
  const [sqsPort, dynamo] = await Promise.all([freePort(ports.sqsAndS3).then(fauxqs.listen), starting]);
  const sqsAndS3 = `http://127.0.0.1:${sqsPort}`;
  const queueUrlPrefix = `${sqsAndS3}/${ACCOUNT}/`;
  return {
    env: {
      AWS_REGION: REGION,
      AWS_ACCESS_KEY_ID: credentials.accessKeyId,
      AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
      AWS_ENDPOINT_URL_SQS: sqsAndS3,
      AWS_ENDPOINT_URL_S3: sqsAndS3,
      AWS_ENDPOINT_URL_DYNAMODB: dynamo.url,
      QUEUES__URL_PREFIX: queueUrlPrefix,
    },
    sqsAndS3,
    dynamo: dynamo.url,
    ports: { sqsAndS3: sqsPort, dynamo: dynamo.port },
    queueUrlPrefix,
    signatures,
    fauxqs,
    async stop() {
      await Promise.all([fauxqs.stop(), dynamo.stop()]);
    },
  };
}
