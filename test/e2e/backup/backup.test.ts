/** Back-ups of whole installations: every answer of the one that is restored is that of the one before. */
import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { gunzipSync } from "node:zlib";
import { expect, it, onTestFinished } from "vitest";
import { type InstanceOptions, startInstance } from "../../services/instance.ts";
import { testFolder } from "../../services/runtime.ts";
import { answers, ENV, fill, SECRET, settled, startHarbour, strandline } from "./installations.ts";

async function start(options: InstanceOptions) {
  const instance = await startInstance({ env: ENV, ...options });
  onTestFinished(() => instance.stop());
  return instance;
}

/**
 * Kills a command each time a little later, until one ends before: it goes on with what the last has left.
 * @returns its end, and how often it was killed in the middle of its work
 */
async function endAtLast(args: readonly string[], env: Record<string, string>, isHalfDone: () => boolean) {
  let halves = 0;
  for (let ms = 400; ; ms *= 1.25) {
    const end = await strandline(args, env, ms);
    if (end.code !== null) return { ...end, halves };
    if (isHalfDone()) halves += 1;
  }
}

it("answers every question as before, once it is restored elsewhere", async () => {
  const folder = await testFolder();
  await using site = await startHarbour();
  const home = join(folder, "before");
  const before = await start({ home });
  const filled = await fill(before, site);
  await settled(before);
  let expected = await answers(before, site, filled);
  // statistics and indexes follow at leisure
  const isSteady = async () => {
    const last = expected;
    expected = await answers(before, site, filled);
    return isDeepStrictEqual(last, expected);
  };
  await expect.poll(isSteady, { interval: 3_000 }).toBe(true);
  const backup = join(folder, "backup");
  const sealed = { STRANDLINE_BACKUP_PASSPHRASE: "a long enough passphrase" };

  const isHalfSaved = () => existsSync(backup) && !existsSync(join(backup, "manifest.json"));
  const saved = await endAtLast(["backup", backup], { STRANDLINE_HOME: home, ...sealed }, isHalfSaved);
  expect(saved.halves).toBeGreaterThan(0);
  expect(saved).toMatchObject({ code: 0, err: "" });
  expect(saved.out).toContain("sealed with the passphrase");
  await before.stop();
  for (const file of await readdir(backup, { recursive: true, withFileTypes: true })) {
    if (!file.isFile() || file.parentPath.includes("objects")) continue;
    const bytes = await readFile(join(file.parentPath, file.name));
    expect((file.name.endsWith(".gz") ? gunzipSync(bytes) : bytes).toString()).not.toContain(SECRET);
  }

  const elsewhere = join(folder, "after");
  // no runtime runs there: the command starts the stores for itself
  const isBegun = () => existsSync(join(elsewhere, "postgres"));
  const restored = await endAtLast(["restore", backup], { STRANDLINE_HOME: elsewhere, ...ENV, ...sealed }, isBegun);
  expect(restored.halves).toBeGreaterThan(0);
  expect(restored).toMatchObject({ code: 0, err: "" });
  const after = await start({ home: elsewhere });
  await settled(after);
  await expect.poll(() => answers(after, site, filled), { interval: 1_000 }).toEqual(expected);
});
