import { SendMessageBatchCommand, SQSClient } from "@aws-sdk/client-sqs";
import { mockClient } from "aws-sdk-client-mock";
import { expect, it } from "vitest";
import { createQueueSender } from "../../../../shared/platform/aws/queues.ts";

const MESSAGES = Array.from({ length: 25 }, (_, number) => ({ number }));

/** @param refuses whether the nth call refuses the entry */
function sender(refuses: (call: number, id: string) => boolean | "fault") {
  const sqs = new SQSClient({ region: "us-east-1" });
  const taken: unknown[] = [];
  let call = 0;
  mockClient(sqs)
    .on(SendMessageBatchCommand)
    .callsFake(({ Entries }: { Entries: { Id: string; MessageBody: string }[] }) => {
      call += 1;
      if (Entries.some(({ Id }) => refuses(call, Id) === "fault")) throw new Error("connection lost");
      const [refused, sent] = [true, false].map((is) => Entries.filter(({ Id }) => refuses(call, Id) === is));
      taken.push(...(sent ?? []).map(({ MessageBody }) => JSON.parse(MessageBody)));
      return { Failed: (refused ?? []).map(({ Id }) => ({ Id, SenderFault: false, Message: "busy" })) };
    });
  return { queues: createQueueSender(sqs, "http://127.0.0.1/0/"), taken };
}

const sorted = (taken: unknown[]) => (taken as typeof MESSAGES).sort((a, b) => a.number - b.number);

it("sends those messages of a batch again that were refused for the moment, and no others", async () => {
  const { queues, taken } = sender((call, id) => call <= 2 && Number(id) % 3 === 0);
  await queues.sendAll("fetch", MESSAGES);
  expect(sorted(taken)).toEqual(MESSAGES);
});

it("sends the batches after one that is lost, and tells of it", async () => {
  const { queues, taken } = sender((call) => (call === 1 ? "fault" : false));
  await expect(queues.sendAll("fetch", MESSAGES)).rejects.toThrow("connection lost");
  expect(sorted(taken)).toEqual(MESSAGES.slice(10));
});

it("tells how many messages were refused for good", async () => {
  const { queues } = sender((_call, id) => id === "4");
  await expect(queues.sendAll("fetch", MESSAGES.slice(0, 10))).rejects.toMatchObject({
    code: "QUEUE_REFUSED",
    message: "1 of 10 messages were refused by fetch: busy",
  });
});
