import { afterAll } from "vitest";
import { allOfTheSiteIsCrawled } from "../e2e/engine/whole-site.ts";
import { type Instance, startInstance } from "../services/instance.ts";

let instance: Instance | undefined;
afterAll(() => instance?.stop());

allOfTheSiteIsCrawled({ pages: 2_000, queryPages: 300 }, async () => {
  const env = { EMBEDDER__PROVIDER: "none", ACCESS__ALLOW_HOSTS: "127.0.0.1", RATE_LIMIT__DEFAULT_RPS: "500" };
  instance = await startInstance({ env });
  return instance;
});
