import { execFile } from "node:child_process";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";

const START = join(import.meta.dirname, "../../../local/start.js");

test("npm start with an argument says how settings are given, and starts nothing", { timeout: 60_000 }, async () => {
  const home = await mkdtemp(join(tmpdir(), "strandline-arguments-"));
  onTestFinished(() => rm(home, { recursive: true, force: true }));
  const env = { ...process.env, STRANDLINE_HOME: home, PORT: "0" };
  const ended = await new Promise<{ code: number | null; err: string }>((resolve) => {
    const child = execFile(process.execPath, [START, "--port", "9000"], { env, timeout: 50_000 }, (_, __, err) =>
      resolve({ code: child.exitCode, err }),
    );
  });
  expect(ended).toEqual({ code: 2, err: expect.stringContaining('"--port"') });
  expect(ended.err).toContain("PORT=9000 npm start");
  expect(await readdir(home)).toEqual([]);
});
