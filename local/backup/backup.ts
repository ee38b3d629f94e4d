/** `strandline backup`: writes an installation to a folder or a bucket. */
import { backUp } from "../../shared/backup/back-up.ts";
import type { Manifest } from "../../shared/backup/manifest.ts";
import { megabytes, progressLine, type Request, runCommand } from "./command.ts";
import { openInstallation, productVersion } from "./installation.ts";

await runCommand(
  "backup",
  "Write the database, the objects and the settings to a folder or a bucket, from which `restore` makes them again\n" +
    "elsewhere. Run again with the same place it copies only what is new.",
  run,
);

async function run({ store, passphrase, json, ...where }: Request): Promise<void> {
  const installation = await openInstallation({ ...where, makes: false });
  const progress = progressLine();
  try {
    let objects = 0;
    const { sql, bucket, settings } = installation;
    const { manifest, reused } = await backUp({ sql, bucket, settings, version: productVersion() }, store, {
      passphrase,
      onTable: ({ name, rows }) => progress.show(`${name}: ${rows} rows`),
      onObject: () => progress.show(`${++objects} objects`),
    });
    progress.end();
    if (json) process.stdout.write(`${JSON.stringify(manifest, null, 2)}\n`);
    else print(manifest, { reused, from: installation.name, to: store.address, isSealed: passphrase !== undefined });
  } finally {
    progress.end();
    await installation.stop();
  }
}

function print(manifest: Manifest, told: { reused: number; from: string; to: string; isSealed: boolean }): void {
  const { tables, objects, secrets, settings_left_out } = manifest;
  const rows = tables.reduce((sum, table) => sum + table.rows, 0);
  const left = Object.entries(secrets.left_out);
  const lines = [
    `${told.from} is backed up in ${told.to}, as of ${manifest.created_at}`,
    `  Rows      ${rows} of ${tables.length} tables (${megabytes(tables.reduce((sum, { bytes }) => sum + bytes, 0))})`,
    `  Objects   ${objects.count} (${megabytes(objects.bytes)}), of which ${told.reused} were there already`,
    "  Vectors   are made again after a restore: from the embedding cache, else by the embedder",
    `  Queues    are not saved: what is under way goes on after a restore`,
    `  Secrets   ${told.isSealed ? "sealed with the passphrase" : secretsLine(left)}`,
    ...(left.length === 0 ? [] : left.map(([place, ids]) => `            ${place}: ${ids.join(", ")}`)),
    ...(settings_left_out.length === 0 ? [] : [`  Settings  without ${settings_left_out.join(", ")}`]),
    ...objects.missing.map((key) => `  MISSING   ${key}: rows speak of it, and the bucket does not have it`),
  ];
  process.stdout.write(`${lines.join("\n")}\n`);
}

const secretsLine = (left: readonly unknown[]): string =>
  left.length === 0
    ? "there are none"
    : "left out, and to be set again after a restore (a passphrase would seal them):";
