/** How many may listen, and that whoever leaves makes room. */
import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { progressHarness } from "./harness.ts";

test("a key has a hundred connections at the most, and one that is forgotten makes room", async () => {
  const harness = await progressHarness();
  const keyId = randomUUID();
  const jobs = await Promise.all([harness.job(), harness.job()]);
  const ids = await Promise.all(
    Array.from({ length: 100 }, (_, index) => harness.listen(jobs[index % 2] as string, keyId)),
  );
  await expect(harness.listen(jobs[0], keyId)).rejects.toMatchObject({ status: 429, code: "TOO_MANY_CONNECTIONS" });
  expect(await harness.listeners(jobs[0])).toHaveLength(50);
  await harness.listen(jobs[0]);
  await harness.connections.forget(ids[0] as string);
  await harness.connections.forget(ids[0] as string);
  await harness.listen(jobs[0], keyId);
  await expect(harness.listen(jobs[0], keyId)).rejects.toMatchObject({ status: 429 });
});

test("connections that were not seen to leave make room once their time is over", async () => {
  const harness = await progressHarness();
  const keyId = randomUUID();
  const jobId = await harness.job();
  await Promise.all(Array.from({ length: 100 }, () => harness.listen(jobId, keyId)));
  harness.pass(3 * 3600 * 1000);
  await expect(harness.listen(jobId, keyId)).resolves.toBeDefined();
});

test("a job has two hundred listeners at the most, and whom it refuses is not counted for the key", async () => {
  const harness = await progressHarness();
  const jobId = await harness.job();
  await Promise.all(Array.from({ length: 200 }, () => harness.listen(jobId)));
  const keyId = randomUUID();
  for (let time = 0; time < 101; time += 1) {
    await expect(harness.listen(jobId, keyId)).rejects.toMatchObject({ status: 429, message: /This job/ });
  }
  await expect(harness.listen(await harness.job(), keyId)).resolves.toBeDefined();
});
