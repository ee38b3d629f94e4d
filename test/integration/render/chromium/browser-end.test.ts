/** The browser ends with whoever started it, however that one ends. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { expect, onTestFinished, test } from "vitest";

const FIXTURE = join(import.meta.dirname, "../../../fixtures/render/browser-process.ts");

/** A process with a container that holds a page open. */
async function start(): Promise<{ child: ChildProcess; browser: number }> {
  const child = spawn(process.execPath, [FIXTURE], { stdio: ["pipe", "pipe", "inherit"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  const [line] = (await once(createInterface(child.stdout), "line")) as [string];
  return { child, browser: (JSON.parse(line) as { pid: number }).pid };
}

/** R, S, Z…, or undefined where the process is gone. */
function stateOf(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    return stat.slice(stat.lastIndexOf(")") + 2, stat.lastIndexOf(")") + 3);
  } catch {
    return undefined;
  }
}

test("a container that is stopped takes its browser along, and leaves no zombie", async () => {
  const { child, browser } = await start();
  expect(stateOf(browser)).toMatch(/[RSD]/);
  child.stdin?.write("stop\n");
  await expect.poll(() => stateOf(browser)).toBeUndefined();
  expect(child.exitCode).toBeNull();
});

test.each(["SIGKILL", "SIGTERM"] as const)("a process that ends by %s takes the browser along", async (signal) => {
  const { child, browser } = await start();
  child.kill(signal);
  // whoever inherits the process may take its time to bury it
  await expect.poll(() => stateOf(browser)).toSatisfy((state) => state === undefined || state === "Z");
});
