/** A state table whose answers get lost on their way: the SDK asks again, and meets what it has written itself. */
import type { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";

/**
 * Loses the answer to the first sending of each update.
 * @returns how many were lost so far
 */
export function loseAnswers(dynamo: DynamoDBDocumentClient): () => number {
  const seen = new Set<string>();
  dynamo.middlewareStack.add(
    (next, { commandName }) =>
      async (args) => {
        const result = await next(args);
        const input = JSON.stringify(args.input);
        if (commandName !== "UpdateItemCommand" || seen.has(input)) return result;
        seen.add(input);
        throw Object.assign(new Error("the connection was cut"), { name: "TimeoutError" });
      },
    { step: "deserialize", priority: "high", name: "lost answers" },
  );
  return () => seen.size;
}
