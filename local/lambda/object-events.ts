/** Objects that were written become messages of queues, as S3 notifications do. */
import { randomBytes } from "node:crypto";
import type { Topology } from "../../infra/topology/spec.ts";
import { REGION } from "../aws/emulators.ts";
import type { FauxqsApp } from "../aws/fauxqs.ts";
import { s3Operation } from "../usage/usage.ts";

const EVENT_NAMES: Record<string, string> = {
  PutObject: "ObjectCreated:Put",
  CopyObject: "ObjectCreated:Copy",
  CompleteMultipartUpload: "ObjectCreated:CompleteMultipartUpload",
};

interface StoredObject {
  key: string;
  contentLength: number;
  etag: string;
}

export interface ObjectNotifications {
  topology: Topology;
  bucket: string;
  /** What is stored under a key of the bucket. */
  head(key: string): StoredObject | undefined;
  /** @param queue its name in the topology */
  send(queue: string, event: unknown): void;
}

/**
 * Sends an event for each matching object before its writer gets the answer, so that nobody is told of an upload whose
 * event a kill could swallow.
 */
export function notifyOfObjects(app: FauxqsApp, { topology, bucket, head, send }: ObjectNotifications): void {
  const triggers = topology.queues.flatMap(({ name, objects: rules = [] }) => rules.map((rule) => ({ name, ...rule })));
  if (triggers.length === 0) return;
  app.addHook("onSend", (request, reply, _payload, done) => {
    const eventName = EVENT_NAMES[s3Operation(request.method, request.url, request.headers)];
    const parameters = request.params as { bucket?: string; "*"?: string } | undefined;
    const key = parameters?.["*"];
    if (eventName !== undefined && reply.statusCode === 200 && parameters?.bucket === bucket && key) {
      const matching = triggers.filter(({ prefix, suffix }) => key.startsWith(prefix) && key.endsWith(suffix));
      const object = matching.length > 0 ? head(key) : undefined;
      if (object) for (const { name } of matching) send(name, objectEvent(eventName, bucket, object));
    }
    done();
  });
}

/** https://docs.aws.amazon.com/AmazonS3/latest/userguide/notification-content-structure.html */
function objectEvent(eventName: string, bucket: string, object: StoredObject) {
  const requestId = randomBytes(8).toString("hex").toUpperCase();
  return {
    Records: [
      {
        eventVersion: "2.1",
        eventSource: "aws:s3",
        awsRegion: REGION,
        eventTime: new Date().toISOString(),
        eventName,
        userIdentity: { principalId: "local" },
        requestParameters: { sourceIPAddress: "127.0.0.1" },
        responseElements: { "x-amz-request-id": requestId, "x-amz-id-2": "local" },
        s3: {
          s3SchemaVersion: "1.0",
          configurationId: "local",
          bucket: { name: bucket, ownerIdentity: { principalId: "local" }, arn: `arn:aws:s3:::${bucket}` },
          object: {
            // encoded as in a form: blanks are plus signs
            key: encodeURIComponent(object.key).replaceAll("%2F", "/").replaceAll("%20", "+"),
            size: object.contentLength,
            eTag: object.etag.replaceAll('"', ""),
            sequencer: `${Date.now().toString(16).toUpperCase()}${requestId.slice(0, 4)}`,
          },
        },
      },
    ],
  };
}
