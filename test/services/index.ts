export { type TestAws, testAws } from "./aws.ts";
export { type TestDatabase, testDatabase } from "./database.ts";
