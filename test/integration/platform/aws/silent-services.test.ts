import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { GetItemCommand } from "@aws-sdk/client-dynamodb";
import { GetObjectCommand } from "@aws-sdk/client-s3";
import { SendMessageCommand } from "@aws-sdk/client-sqs";
import { expect, onTestFinished, test, vi } from "vitest";
import { isTransientError } from "../../../../shared/platform/transient-errors.ts";

test("a service that takes a connection and never answers is given up, as a fault that may pass", async () => {
  const sockets = new Set<Socket>();
  const silent = createServer((socket) => void sockets.add(socket.on("error", () => undefined))).listen(0, "127.0.0.1");
  await once(silent, "listening");
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    silent.close();
  });
  const endpoint = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`;
  for (const service of ["SQS", "S3", "DYNAMODB"]) vi.stubEnv(`AWS_ENDPOINT_URL_${service}`, endpoint);
  vi.stubEnv("AWS_REGION", "us-east-1");
  vi.stubEnv("AWS_ACCESS_KEY_ID", "local");
  vi.stubEnv("AWS_SECRET_ACCESS_KEY", "local");
  vi.stubEnv("AWS_MAX_ATTEMPTS", "1");
  const { dynamoClient, s3Client, sqsClient } = await import("../../../../shared/platform/aws/clients.ts");
  const calls = await Promise.allSettled([
    sqsClient().send(new SendMessageCommand({ QueueUrl: `${endpoint}/000000000000/fetch-normal`, MessageBody: "x" })),
    s3Client().send(new GetObjectCommand({ Bucket: "strandline", Key: "x" })),
    dynamoClient().send(new GetItemCommand({ TableName: "strandline-state", Key: { pk: { S: "x" } } })),
  ]);
  for (const call of calls) {
    expect(call.status === "rejected" && isTransientError(call.reason)).toBe(true);
    expect(call).toMatchObject({ reason: { name: "TimeoutError" } });
  }
});
