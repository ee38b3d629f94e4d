import { defineConfig } from "vitest/config";

/** `npm test` runs all projects but the last one, which takes minutes by its nature: `npm run test:soak` runs that one alone. */
export default defineConfig(({ mode }) => ({
  test: {
    maxWorkers: 2,
    teardownTimeout: 60_000,
    projects: [
      {
        test: {
          name: "unit",
          include: ["test/unit/**/*.test.ts", "test/{infra,layers}/**/*.test.ts"],
          expect: { poll: { timeout: 60_000 } },
          testTimeout: 120_000,
          hookTimeout: 120_000,
        },
      },
      {
        test: {
          name: "integration",
          include: ["test/integration/**/*.test.ts"],
          globalSetup: ["test/services/global-setup.ts"],
          // a condition is waited for, however busy the machine is
          expect: { poll: { timeout: 120_000, interval: 20 } },
          testTimeout: 480_000,
          hookTimeout: 240_000,
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
          globalSetup: ["test/services/shared-runtime.ts"],
          // after all others, since some tests look at the clock
          sequence: { groupOrder: 1 },
        },
      },
      {
        test: {
          name: "soak",
          include: ["test/soak/**/*.test.ts"],
          expect: { poll: { timeout: 240_000, interval: 50 } },
          testTimeout: 1_500_000,
          hookTimeout: 960_000,
          fileParallelism: false,
        },
      },
    ].filter(({ test: { name } }) => (name === "soak") === (mode === "soak")),
  },
}));
