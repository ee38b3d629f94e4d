import { defineConfig, type TestProjectInlineConfiguration } from "vitest/config";

const integration: TestProjectInlineConfiguration["test"] = {
  globalSetup: ["test/services/global-setup.ts", "test/services/cluster-template.ts"],
  // a condition is waited for, however busy the machine is
  expect: { poll: { timeout: 120_000, interval: 20 } },
  testTimeout: 480_000,
  hookTimeout: 240_000,
};

/**
 * Tests of containers, which keep the environment or the browser that they began with: each file has its own process.
 */
const CONTAINERS = [
  ...["access", "archive/replay", "cli", "functions", "local", "render"].map(
    (room) => `test/integration/${room}/**/*.test.ts`,
  ),
  "test/integration/crawl/recovery/dead-letters.test.ts",
  "test/integration/platform/aws/silent-services.test.ts",
  // each of a kind loads the same handler
  "test/integration/archive/{archive-search,changes}*.test.ts",
];

/** Tests that put a module in the place of another. */
const MOCKING = ["test/unit/functions/sample-messages.test.ts"];

/** Where tests call a whole runtime, its answers are held against the OpenAPI document. */
const DOCUMENTED_FETCH = ["test/services/documented-fetch.ts"];

/** `npm test` runs all projects but the last, which takes minutes by its nature and is run by `npm run test:soak`. */
export default defineConfig(({ mode }) => ({
  test: {
    maxWorkers: 3,
    // Node itself loads what is tested, as it does where it runs: nothing is transformed, and no module can be mocked
    experimental: { viteModuleRunner: false, nodeLoader: false },
    teardownTimeout: 60_000,
    projects: [
      {
        test: {
          name: "unit",
          include: ["test/unit/**/*.test.ts", "test/{infra,layers}/**/*.test.ts"],
          exclude: MOCKING,
          // files share what they import: none of them changes it
          isolate: false,
          unstubEnvs: true,
          expect: { poll: { timeout: 60_000 } },
          testTimeout: 120_000,
          hookTimeout: 120_000,
        },
      },
      {
        test: {
          name: "unit-mocking",
          include: MOCKING,
          experimental: { viteModuleRunner: true, nodeLoader: true },
          testTimeout: 120_000,
        },
      },
      {
        test: {
          ...integration,
          name: "integration",
          include: ["test/integration/**/*.test.ts"],
          exclude: CONTAINERS,
          isolate: false,
        },
      },
      {
        test: {
          ...integration,
          name: "integration-containers",
          include: CONTAINERS,
          setupFiles: DOCUMENTED_FETCH,
        },
      },
      {
        test: {
          name: "e2e",
          include: ["test/e2e/**/*.test.ts"],
          // a condition is waited for, however busy the machine is; the limits are there against waiting for ever
          expect: { poll: { timeout: 120_000, interval: 50 } },
          testTimeout: 480_000,
          hookTimeout: 240_000,
          globalSetup: ["test/services/shared-runtime.ts", "test/services/cluster-template.ts"],
          setupFiles: DOCUMENTED_FETCH,
          // after all others, since some tests look at the clock
          sequence: { groupOrder: 1 },
        },
      },
      {
        test: {
          name: "soak",
          include: ["test/soak/**/*.test.ts"],
          globalSetup: ["test/services/global-setup.ts", "test/services/cluster-template.ts"],
          expect: { poll: { timeout: 240_000, interval: 50 } },
          testTimeout: 1_500_000,
          hookTimeout: 960_000,
        },
      },
    ].filter(({ test: { name } }) => (name === "soak") === (mode === "soak")),
  },
}));
