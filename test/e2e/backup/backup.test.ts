/** Back-ups of whole installations: every answer of the one that is restored is that of the one before. */
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

  const saved = await strandline(["backup", backup], { STRANDLINE_HOME: home, ...sealed });
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
  const restored = await strandline(["restore", backup], { STRANDLINE_HOME: elsewhere, ...ENV, ...sealed });
  expect(restored).toMatchObject({ code: 0, err: "" });
  const after = await start({ home: elsewhere });
  await settled(after);
  await expect.poll(() => answers(after, site, filled), { interval: 1_000 }).toEqual(expected);
});
