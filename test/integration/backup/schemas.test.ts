/** Back-ups of another schema than that of the version that restores them. */
import { cp, readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { createFolderStore } from "../../../shared/backup/backup-store.ts";
import { testFolder } from "../../services/index.ts";
import { emptyStores, fill, save, target } from "./stores.ts";

const MIGRATIONS = join(import.meta.dirname, "../../../shared/platform/database/migrations");

/** Those of the product, and one that only the next version has. */
async function nextVersion(): Promise<string> {
  const folder = join(await testFolder(), "migrations");
  await cp(MIGRATIONS, folder, { recursive: true });
  await writeFile(
    join(folder, "9999_next.sql"),
    "alter table tags add column shown text; update tags set shown = upper(name);",
  );
  return folder;
}

it("loads an older back-up in its own schema, and migrates it with its rows", async () => {
  const from = await emptyStores();
  await fill(from);
  await from.sql`insert into tags (id, name) values (gen_random_uuid(), 'coast')`;
  const store = createFolderStore(await testFolder());
  await save(from, store);
  const to = await emptyStores();
  await target(to).load(store, { migrations: await nextVersion() });
  expect(await to.sql`select shown from tags where name = 'coast'`).toEqual([{ shown: "COAST" }]);
  expect(await to.sql`select from jobs`).toHaveLength(2);
  expect(await to.sql`select from migrations`).toHaveLength((await readdir(MIGRATIONS)).length + 1);
});

it("refuses a back-up of a newer schema", async () => {
  const from = await emptyStores();
  const store = createFolderStore(await testFolder());
  await save(from, store);
  const older = join(await testFolder(), "migrations");
  await cp(MIGRATIONS, older, { recursive: true });
  const last = (await readdir(older)).sort().at(-1) ?? "";
  await rm(join(older, last));
  await expect(target(await emptyStores()).load(store, { migrations: older })).rejects.toThrow(
    new RegExp(`comes from a newer Strandline .*${last}`),
  );
});
