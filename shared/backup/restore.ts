/**
 * Restores a back-up into an installation that holds nothing: the files are checked, then the objects are put, then all
 * rows appear at once. What is broken off before that is begun again, and goes on with the objects that are there.
 */
import type { Sql } from "../platform/database/database.ts";
import type { BackupStore } from "./backup-store.ts";
import type { Bucket } from "./bucket.ts";
import { checkFiles } from "./check-files.ts";
import { type Manifest, readManifest, type TableFile } from "./manifest.ts";
import { checkSchema, readContent, refuseContent, restoreDatabase, setEtags } from "./restore-database.ts";
import { findPresent, restoreObjects } from "./restore-objects.ts";
import { hideSecret, openSeal, PassphraseRefused, type RowsWithoutSecrets } from "./secrets.ts";

export interface RestoreTarget {
  sql: Sql;
  bucket: Bucket;
  /** Remembers, beside the database, which back-up's rows are about to appear; undefined: that all is done. */
  progress: { read(): Promise<string | undefined>; note(backup: string | undefined): Promise<void> };
  /**
   * Makes what follows from the rows and is not saved. May be called again for the same rows.
   * @param withoutSecrets rows whose secrets did not come along; undefined where the rows were there already
   */
  finish(withoutSecrets: RowsWithoutSecrets | undefined): Promise<void>;
}

export interface RestoreOptions {
  /** Opens the secrets; they are to be set again where there is none. */
  passphrase?: string | undefined;
  onManifest?: (manifest: Manifest) => void;
  onChecked?: () => void;
  onObject?: () => void;
  onTable?: (table: TableFile) => void;
  /** Folder of the migrations; that of the product where not given. */
  migrations?: string;
}

/** Objects below it wake the indexer, which is to find the rows of those that were indexed already. */
const WAKING = "incoming/";

/**
 * @returns what was restored, and the rows whose secrets are to be set again, by table and column
 * @throws UnusableBackup, PassphraseRefused
 */
export async function restore(
  target: RestoreTarget,
  store: BackupStore,
  options: RestoreOptions = {},
): Promise<{ manifest: Manifest; withoutSecrets: RowsWithoutSecrets }> {
  const { sql, bucket, progress } = target;
  const manifest = await readManifest(store);
  await checkSchema(manifest, options.migrations);
  const open = await openerOf(manifest, options.passphrase);
  options.onManifest?.(manifest);
  const content = await readContent(sql);
  const isLoaded = content.size > 0 && (await progress.read()) === manifest.id;
  if (!isLoaded) refuseContent(content);
  const objects = await checkFiles(store, manifest, options.onChecked);
  const present = await findPresent(bucket, objects);
  const missing = objects.filter(({ key }) => !present.has(key));
  const put = (waking: boolean) =>
    restoreObjects(
      bucket,
      store,
      missing.filter(({ key }) => key.startsWith(WAKING) === waking),
      options.onObject,
    );
  let withoutSecrets: RowsWithoutSecrets = new Map();
  if (!isLoaded) {
    const renamed = await put(false);
    const moved = objects.filter(({ etag, newEtag }) => etag !== newEtag);
    const etags = [...moved.map(({ key, newEtag }) => ({ key, etag: newEtag })), ...renamed];
    await progress.note(manifest.id);
    const { onTable, migrations } = options;
    withoutSecrets = await restoreDatabase(sql, store, manifest, {
      ...{ open, etags },
      ...(onTable && { onTable }),
      ...(migrations !== undefined && { migrations }),
    });
  }
  await setEtags(sql, await put(true));
  await target.finish(isLoaded ? undefined : withoutSecrets);
  await progress.note(undefined);
  return { manifest, withoutSecrets };
}

async function openerOf({ secrets: { seal } }: Manifest, passphrase: string | undefined) {
  if (seal === null || passphrase === undefined) return hideSecret;
  if (passphrase === "") throw new PassphraseRefused("The passphrase is empty");
  return await openSeal(seal, passphrase);
}
