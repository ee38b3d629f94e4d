import { expect, test } from "vitest";
import { createFairTurns } from "../../../../local/lambda/fair-turns.ts";

const message = (jobId: string, id: number) => ({ id, body: JSON.stringify({ taskId: String(id), jobId }) });

function taken(messages: { id: number; body: string }[], batch: number): number[] {
  const turns = createFairTurns();
  const order: number[] = [];
  while (messages.length > 0) {
    turns.moveForward(messages, batch);
    order.push(...messages.splice(0, batch).map(({ id }) => id));
  }
  return order;
}

test.for([1, 3])(
  "jobs take turns, each in its own order, however much one of them sent before, in batches of %i",
  (batch) => {
    const many = Array.from({ length: 6 }, (_, id) => message("many", id));
    const messages = [...many, message("few", 6), message("few", 7), message("one", 8)];
    expect(taken(messages, batch)).toEqual([0, 6, 8, 1, 7, 2, 3, 4, 5]);
  },
);

test("a job whose messages come later waits for one message of the others", () => {
  const turns = createFairTurns();
  const messages = Array.from({ length: 5 }, (_, id) => message("many", id));
  for (let round = 0; round < 3; round += 1) {
    turns.moveForward(messages, 1);
    messages.shift();
  }
  messages.push(message("late", 9));
  turns.moveForward(messages, 1);
  expect(messages.map(({ id }) => id)).toEqual([9, 3, 4]);
});

test("messages of no job keep their order", () => {
  const messages = [1, 2, 3].map((id) => ({ id, body: "{}" }));
  expect(taken(messages, 1)).toEqual([1, 2, 3]);
});
