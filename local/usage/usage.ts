/** Counts what AWS would bill for: calls by service and operation, and the time of functions. */
import type { FunctionSpec } from "../../infra/topology/spec.ts";
import type { FauxqsApp } from "../aws/fauxqs.ts";
import { PRICES } from "./prices.ts";

export interface Usage {
  /** By service and operation, e.g. `sqs.SendMessage`. */
  calls: Record<string, number>;
  /** Of the requests' bodies, by service and operation. */
  bytes: Record<string, number>;
  /** By function. */
  functions: Record<string, { invocations: number; gbSeconds: number }>;
  /** All AWS calls and invocations together. */
  totalCalls: number;
  /** By service, and what they sum up to. */
  usd: Record<string, number>;
  totalUsd: number;
}

export interface UsageMeter {
  count(service: Service, operation: string, bytes?: number): void;
  countInvocation(spec: FunctionSpec, durationMs: number): void;
  read(): Usage;
  /** Forgets what was counted, e.g. while resources were made. */
  reset(): void;
}

export type Service = "sqs" | "s3" | "dynamodb" | "scheduler" | "apigateway";

const FREE_S3 = new Set(["DeleteObject", "DeleteObjects", "AbortMultipartUpload", "DeleteBucket"]);
const S3_READS = new Set(["GetObject", "HeadObject", "HeadBucket"]);
const DYNAMO_READS = new Set(["GetItem", "BatchGetItem", "Query", "Scan"]);
const DYNAMO_WRITES = new Set(["PutItem", "UpdateItem", "DeleteItem", "BatchWriteItem"]);

export function createUsageMeter(): UsageMeter {
  const calls: Record<string, number> = {};
  const sent: Record<string, number> = {};
  const functions: Usage["functions"] = {};
  const usd: Record<string, number> = {};
  const charge = (name: string, amount: number) => {
    usd[name] = (usd[name] ?? 0) + amount;
  };
  return {
    count(service, operation, bytes = 0) {
      const name = `${service}.${operation}`;
      calls[name] = (calls[name] ?? 0) + 1;
      sent[name] = (sent[name] ?? 0) + bytes;
      charge(service, priceOf(service, operation, bytes));
    },
    countInvocation({ name, memoryMb }, durationMs) {
      functions[name] ??= { invocations: 0, gbSeconds: 0 };
      const entry = functions[name];
      // billed by the millisecond, rounded up
      const gbSeconds = (Math.ceil(durationMs) / 1000) * (memoryMb / 1024);
      entry.invocations += 1;
      entry.gbSeconds += gbSeconds;
      charge("lambda", PRICES.lambdaRequest + gbSeconds * PRICES.lambdaGbSecond);
    },
    reset() {
      for (const counts of [calls, sent, functions, usd]) for (const name of Object.keys(counts)) delete counts[name];
    },
    read() {
      const invocations = Object.values(functions).reduce((sum, each) => sum + each.invocations, 0);
      return {
        calls: { ...calls },
        bytes: { ...sent },
        functions: structuredClone(functions),
        totalCalls: Object.values(calls).reduce((sum, each) => sum + each, invocations),
        usd: { ...usd },
        totalUsd: Object.values(usd).reduce((sum, each) => sum + each, 0),
      };
    },
  };
}

/** @param bytes of the request; a DynamoDB read is taken for one unit, since what it read is not known here */
function priceOf(service: Service, operation: string, bytes: number): number {
  switch (service) {
    case "sqs":
      return PRICES.sqsRequest * Math.max(1, Math.ceil(bytes / PRICES.sqsRequestBytes));
    case "s3":
      if (FREE_S3.has(operation)) return 0;
      return S3_READS.has(operation) ? PRICES.s3Read : PRICES.s3Write;
    case "dynamodb":
      if (DYNAMO_WRITES.has(operation)) return PRICES.dynamoWrite * Math.max(1, Math.ceil(bytes / 1024));
      return DYNAMO_READS.has(operation) ? PRICES.dynamoRead : 0;
    case "scheduler":
      return operation === "Invocation" ? PRICES.schedulerInvocation : 0;
    case "apigateway":
      return operation === "Request" ? PRICES.restRequest : PRICES.websocketMessage;
  }
}

/** Counts every call that SQS and S3 answer. */
export function meterFauxqs(app: FauxqsApp, meter: UsageMeter): void {
  app.addHook("onResponse", (request, reply, done) => {
    // a stranger's: AWS bills nobody for them either
    if (reply.statusCode === 403) return done();
    const bytes = Number(request.headers["content-length"] ?? 0);
    const target = request.headers["x-amz-target"];
    if (typeof target === "string") meter.count("sqs", target.split(".").at(-1) ?? "", bytes);
    else meter.count("s3", s3Operation(request.method, request.url, request.headers), bytes);
    done();
  });
}

/** The S3 operation of a path-style request. */
export function s3Operation(method: string, url: string, headers: Record<string, unknown>): string {
  const { pathname, searchParams } = new URL(url, "http://127.0.0.1");
  const [, bucket = "", key = ""] = /^\/([^/]*)\/?(.*)$/.exec(pathname) ?? [];
  const has = (name: string) => searchParams.has(name);
  if (bucket === "") return "ListBuckets";
  if (key === "") {
    if (has("lifecycle")) return `${method[0]}${method.slice(1).toLowerCase()}BucketLifecycleConfiguration`;
    if (method === "POST") return has("delete") ? "DeleteObjects" : "PostObject";
    return { PUT: "CreateBucket", DELETE: "DeleteBucket", HEAD: "HeadBucket" }[method] ?? "ListObjects";
  }
  if (method === "PUT" && has("partNumber")) return "UploadPart";
  if (method === "PUT" && headers["x-amz-copy-source"] !== undefined) return "CopyObject";
  if (method === "POST") return has("uploads") ? "CreateMultipartUpload" : "CompleteMultipartUpload";
  if (method === "DELETE" && has("uploadId")) return "AbortMultipartUpload";
  return { PUT: "PutObject", GET: "GetObject", HEAD: "HeadObject", DELETE: "DeleteObject" }[method] ?? method;
}
