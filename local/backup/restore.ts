/** `strandline restore`: makes an installation of a back-up, where there is nothing yet. */
import type { Manifest } from "../../shared/backup/manifest.ts";
import { restore } from "../../shared/backup/restore.ts";
import type { RowsWithoutSecrets } from "../../shared/backup/secrets.ts";
import { createStateTable } from "../../shared/platform/aws/state-table.ts";
import { megabytes, progressLine, type Request, runCommand } from "./command.ts";
import { type Finished, finishRestore } from "./finish-restore.ts";
import { type Installation, openInstallation } from "./installation.ts";

/** Item of the state table that names the back-up whose rows are about to appear. */
const PROGRESS_KEY = "restore#unfinished";

await runCommand(
  "restore",
  "Make the database, the objects and what follows from them of a back-up, where there is nothing yet.\n" +
    "A restore that was broken off is run again.",
  run,
);

async function run({ store, passphrase, json, ...where }: Request): Promise<void> {
  const installation = await openInstallation({ ...where, makes: true });
  const progress = progressLine();
  try {
    let finished: Finished | undefined;
    let checked = 0;
    let objects = 0;
    const { sql, bucket, dynamo, config } = installation;
    const state = createStateTable(dynamo, config.stateTable);
    const result = await restore(
      {
        ...{ sql, bucket },
        progress: {
          async read() {
            const backup = (await state.read(PROGRESS_KEY))?.["backup"];
            return typeof backup === "string" ? backup : undefined;
          },
          async note(backup) {
            if (backup === undefined) await state.remove(PROGRESS_KEY);
            else await state.put(PROGRESS_KEY, { backup });
          },
        },
        async finish(withoutSecrets) {
          progress.show("what follows from the rows");
          finished = await finishRestore(installation, withoutSecrets);
        },
      },
      store,
      {
        passphrase,
        onChecked: () => progress.show(`${++checked} files checked`),
        onObject: () => progress.show(`${++objects} objects put`),
        onTable: ({ name, rows }) => progress.show(`${name}: ${rows} rows`),
      },
    );
    progress.end();
    const report = { installation, to: store.address, put: objects, ...result, finished };
    process.stdout.write(json ? `${JSON.stringify(asJson(report), null, 2)}\n` : `${linesOf(report).join("\n")}\n`);
  } finally {
    progress.end();
    await installation.stop();
  }
}

interface Report {
  installation: Installation;
  to: string;
  /** Objects that were not there already. */
  put: number;
  manifest: Manifest;
  withoutSecrets: RowsWithoutSecrets;
  finished: Finished | undefined;
}

function asJson({ put, manifest, withoutSecrets, finished, installation }: Report) {
  return {
    backup: manifest.id,
    rows: rowsOf(manifest),
    objects: manifest.objects.count,
    objects_put: put,
    to_be_set_again: Object.fromEntries([...withoutSecrets].map(([place, ids]) => [place, [...ids]])),
    settings_that_differ: differing(manifest, installation),
    unfinished_jobs: finished?.unfinishedJobs ?? 0,
    cancelled_jobs: finished?.cancelledJobs ?? 0,
    vectors_to_make: finished?.lostVectors ?? 0,
    vector_fault: finished?.vectorFault ?? null,
  };
}

function linesOf({ installation, to, put, manifest, withoutSecrets, finished }: Report): string[] {
  const { objects, created_at } = manifest;
  const settings = Object.entries(differing(manifest, installation));
  const jobs = finished?.unfinishedJobs ?? 0;
  const cancelled = finished?.cancelledJobs ?? 0;
  return [
    `${installation.name} is what ${to} was at ${created_at}`,
    `  Rows      ${rowsOf(manifest)} of ${manifest.tables.length} tables`,
    `  Objects   ${objects.count} (${megabytes(objects.bytes)}), of which ${put} were put now`,
    `  Vectors   ${vectorsLine(finished)}`,
    ...(jobs === 0 ? [] : [`  Jobs      ${jobs} were under way and go on`]),
    ...(cancelled === 0
      ? []
      : [`  Jobs      ${cancelled} were under way with secrets that are missing, and are cancelled`]),
    ...[...withoutSecrets].map(([place, ids]) => `  SET AGAIN ${place}: ${[...ids].join(", ")}`),
    ...settings.map(([name, value]) => `  Setting   ${name} was ${value}, and is not so here`),
    ...(manifest.settings_left_out.length === 0
      ? []
      : [`  Settings  to be made here anew where they are needed: ${manifest.settings_left_out.join(", ")}`]),
    ...objects.missing.map((key) => `  MISSING   ${key}: the back-up does not have it`),
    ...(installation.runningAt === undefined ? [] : ["  Start the runtime anew: it may hold answers of before"]),
  ];
}

function rowsOf({ tables }: Manifest): number {
  return tables.reduce((sum, { rows }) => sum + rows, 0);
}

function vectorsLine(finished: Finished | undefined): string {
  if (finished?.vectorFault !== undefined)
    return `are not asked for (${finished.vectorFault}): run \`strandline reconcile\``;
  return `${finished?.lostVectors ?? 0} are made again, from the embedding cache where it has them`;
}

function differing({ settings }: Manifest, { settings: { settings: here } }: Installation): Record<string, string> {
  return Object.fromEntries(Object.entries(settings).filter(([name, value]) => here[name] !== value));
}
