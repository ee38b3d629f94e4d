/** First file of a container's thread. It is no TypeScript, so that no thread loads the compiler that takes types away. */
import "../compile-cache.js";

await import("./container-worker.ts");
