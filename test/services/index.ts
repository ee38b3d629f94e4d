export { type MemoryAws, type TestAws, testAws, testAwsWithoutSqs } from "./aws.ts";
export { type TestDatabase, testDatabase } from "./database.ts";
export { reader, spawnRuntime, type TestRuntime, testFolder, testRuntime } from "./runtime.ts";
