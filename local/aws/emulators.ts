/** SQS, S3 and DynamoDB on loopback, by their wire protocols. */
import { once } from "node:events";
import { mkdir } from "node:fs/promises";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import dynalite from "dynalite";
import { freePort } from "../ports.ts";
import { createFauxqs, type Fauxqs, type FauxqsApp } from "./fauxqs.ts";

export interface AwsOptions {
  /** Where state is kept; in memory where it is not given. */
  directory?: string;
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
  fauxqs: Fauxqs;
  stop(): Promise<void>;
}

export const REGION = "us-east-1";
/** What fauxqs names its queues' owner. */
export const ACCOUNT = "000000000000";

/** Key id and secret of the embedded services, which take any. */
export const EMBEDDED_CREDENTIAL = "local";

export async function startAws({ directory, ports = {}, prepare, onDynamoCall }: AwsOptions = {}): Promise<LocalAws> {
  if (directory !== undefined) await mkdir(directory, { recursive: true });
  const fauxqs = createFauxqs(directory, REGION);
  prepare?.(fauxqs.app);
  const sqsPort = await fauxqs.listen(await freePort(ports.sqsAndS3));
  const dynamo = dynalite({
    ...(directory === undefined ? {} : { path: join(directory, "dynamo") }),
    createTableMs: 0,
    deleteTableMs: 0,
    updateTableMs: 0,
  });
  dynamo.on("request", (request) => {
    const operation = String(request.headers["x-amz-target"] ?? "").split(".")[1] ?? "";
    onDynamoCall?.(operation, Number(request.headers["content-length"] ?? 0));
  });
  dynamo.listen(await freePort(ports.dynamo), "127.0.0.1");
  await once(dynamo, "listening");
  const dynamoPort = (dynamo.address() as AddressInfo).port;
  const sqsAndS3 = `http://127.0.0.1:${sqsPort}`;
  const queueUrlPrefix = `${sqsAndS3}/${ACCOUNT}/`;
  return {
    env: {
      AWS_REGION: REGION,
      AWS_ACCESS_KEY_ID: EMBEDDED_CREDENTIAL,
      AWS_SECRET_ACCESS_KEY: EMBEDDED_CREDENTIAL,
      AWS_ENDPOINT_URL_SQS: sqsAndS3,
      AWS_ENDPOINT_URL_S3: sqsAndS3,
      AWS_ENDPOINT_URL_DYNAMODB: `http://127.0.0.1:${dynamoPort}`,
      QUEUES__URL_PREFIX: queueUrlPrefix,
    },
    sqsAndS3,
    dynamo: `http://127.0.0.1:${dynamoPort}`,
    ports: { sqsAndS3: sqsPort, dynamo: dynamoPort },
    queueUrlPrefix,
    fauxqs,
    async stop() {
      const closed = new Promise<void>((resolve) => dynamo.close(() => resolve()));
      dynamo.closeAllConnections();
      await Promise.all([fauxqs.stop(), closed]);
    },
  };
}
