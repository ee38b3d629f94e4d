import { SendMessageBatchCommand, SQSClient } from "@aws-sdk/client-sqs";
import { mockClient } from "aws-sdk-client-mock";
import * as fc from "fast-check";
import { expect, it } from "vitest";
import { createQueueSender, MessagesRefused, messageBody } from "../../../../shared/platform/aws/queues.ts";

const MESSAGES = Array.from({ length: 25 }, (_, number) => ({ number }));

/** @param refuses whether the nth call refuses the entry: for now, or for good */
function sender(refuses: (call: number, id: string) => boolean | "fault" | "for good") {
  const sqs = new SQSClient({ region: "us-east-1" });
  const taken: unknown[] = [];
  let call = 0;
  mockClient(sqs)
    .on(SendMessageBatchCommand)
    .callsFake(({ Entries }: { Entries: { Id: string; MessageBody: string }[] }) => {
      call += 1;
      if (Entries.some(({ Id }) => refuses(call, Id) === "fault")) throw new Error("connection lost");
      taken.push(...Entries.filter(({ Id }) => !refuses(call, Id)).map(({ MessageBody }) => JSON.parse(MessageBody)));
      const failed = (is: true | "for good", Message: string) =>
        Entries.filter(({ Id }) => refuses(call, Id) === is).map(({ Id }) => ({
          Id,
          SenderFault: is === "for good",
          Message,
        }));
      return { Failed: [...failed(true, "busy"), ...failed("for good", "faulty")] };
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

it("tells which messages no try could send, and sends all others", async () => {
  const { queues, taken } = sender((call, id) => (call === 1 && id === "2" ? "for good" : call <= 2 && id === "3"));
  const large = { number: "x".repeat(1_048_576) };
  const sending = queues.sendAll("fetch", [large, ...MESSAGES.slice(0, 9)]);
  await expect(sending).rejects.toMatchObject({
    name: "MessagesRefused",
    code: "MESSAGE_REFUSED",
    messages: [large, { number: 2 }],
  });
  expect(sorted(taken)).toEqual(MESSAGES.slice(0, 9).filter(({ number }) => number !== 2));
});

it("sends no message that no queue would take, and says how large it may be", async () => {
  const { queues } = sender(() => false);
  const sending = queues.send("fetch", "\u{1F41F}".repeat(90_000));
  await expect(sending).rejects.toThrow(MessagesRefused);
  await expect(sending).rejects.toThrow("A message for fetch is over 1048576 bytes: ask for less at once");
});

it("writes any text as ASCII that reads as the same text", async () => {
  expect(messageBody({ fish: "\u{1F41F} \uFFFF é" })).toBe('{"fish":"\\ud83d\\udc1f \\uffff \\u00e9"}');
  await fc.assert(
    fc.property(fc.jsonValue({ stringUnit: "binary" }), (message) => {
      const body = messageBody(message);
      expect(body).toMatch(/^[\x20-\x7e]*$/);
      expect(JSON.parse(body)).toEqual(JSON.parse(JSON.stringify(message)));
    }),
  );
});
