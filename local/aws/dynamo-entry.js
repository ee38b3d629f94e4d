/** First file of DynamoDB's thread. It is no TypeScript, so that it does not load the compiler that takes types away. */
import "../compile-cache.js";

await import("./dynamo-worker.ts");
