/** Two installations' stores with some rows and objects in one of them. */
import { PutObjectCommand } from "@aws-sdk/client-s3";
import { onTestFinished } from "vitest";
import { type BackupOptions, backUp } from "../../../shared/backup/back-up.ts";
import type { BackupStore } from "../../../shared/backup/backup-store.ts";
import { type Bucket, createBucket } from "../../../shared/backup/bucket.ts";
import { type RestoreOptions, restore } from "../../../shared/backup/restore.ts";
import type { RowsWithoutSecrets } from "../../../shared/backup/secrets.ts";
import type { Sql } from "../../../shared/platform/database/database.ts";
import { uuidv7 } from "../../../shared/platform/ids.ts";
import { testAwsWithoutSqs, testDatabase } from "../../services/index.ts";

export interface Stores {
  sql: Sql;
  bucket: Bucket;
  put(key: string, body: string | Uint8Array, headers?: { ContentType?: string }): Promise<void>;
}

export async function emptyStores(): Promise<Stores> {
  const { sql, destroy } = await testDatabase();
  // some tests make its schema anew
  onTestFinished(destroy);
  const { s3, bucket } = await testAwsWithoutSqs();
  return {
    sql,
    bucket: createBucket(s3, bucket),
    async put(Key, Body, headers = {}) {
      await s3.send(new PutObjectCommand({ Bucket: bucket, Key, Body, ...headers }));
    },
  };
}

export const save = (from: Stores, store: BackupStore, options: BackupOptions = {}) =>
  backUp(
    { ...from, settings: { settings: { LOG_LEVEL: "warn" }, settings_left_out: [] }, version: "0.1.0" },
    store,
    options,
  );

export interface Restored {
  /** For each time that the rest was done. */
  finished: (RowsWithoutSecrets | undefined)[];
  noted: { backup: string | undefined };
}

/** A target that remembers what it was told, over several tries. */
export const target = ({ sql, bucket }: Stores, failsToFinish = { times: 0 }) => {
  const told: Restored = { finished: [], noted: { backup: undefined } };
  const load = (store: BackupStore, options: RestoreOptions = {}) =>
    restore(
      {
        ...{ sql, bucket },
        progress: {
          read: async () => told.noted.backup,
          async note(backup) {
            told.noted.backup = backup;
          },
        },
        async finish(left) {
          told.finished.push(left);
          if (failsToFinish.times-- > 0) throw new Error("killed while it finished");
        },
      },
      store,
      options,
    );
  return { told, load };
};

/** What stands in each secret. */
export const SECRET = "hush-4711";

export interface Made {
  job: string;
  running: string;
  webhook: string;
  proxy: string;
  source: string;
  config: string;
}

/** Rows with awkward values, with each kind of secret, and objects of which they speak. */
export async function fill({ sql, put }: Stores): Promise<Made> {
  const [job, running, webhook, proxy, source, config] = Array.from({ length: 6 }, () => uuidv7()) as [
    string,
    string,
    string,
    string,
    string,
    string,
  ];
  const settings = {
    config: {
      headers: { Accept: "text/html", Authorization: `Bearer ${SECRET}` },
      cookies: [{ name: "sid", value: SECRET, host: "example.org" }],
      actions: [
        { type: "click", selector: "#go" },
        { type: "type", selector: "#name", text: SECRET },
      ],
    },
    note: 'tab\there, line\nthere, back\\slash, "quotes", \u2028 and 𝄞',
  };
  const json = (value: unknown) => JSON.stringify(value);
  await sql`
    insert into jobs (id, kind, status, settings, generation_id) values
      (${job}, 'site', 'completed', ${json(settings)}::text::jsonb, ${uuidv7()}),
      (${running}, 'site', 'running', ${json(settings)}::text::jsonb, ${uuidv7()})`;
  for (const text of ["\\N", "a\\b\tc\nd\re\vf\u0001", ""]) {
    await sql`insert into collections (id, name, description) values (${uuidv7()}, ${uuidv7()}, ${text})`;
  }
  await sql`insert into tags (id, name) values (${uuidv7()}, 'quay')`;
  await sql`
    insert into embedding_cache (model, content_hash, vector)
    select 'static', sha256(n::text::bytea), decode(repeat(lpad(to_hex(n % 256), 2, '0'), 64), 'hex')
    from generate_series(0, 2999) n`;
  await sql`
    insert into webhooks (id, url, headers, secrets, events) values (${webhook}, 'https://hooks.example/',
      ${json({ "X-Anything": SECRET })}::text::jsonb, ${json([{ secret: SECRET, until: null }])}::text::jsonb, '{page.changed}')`;
  await sql`
    insert into proxy_configs (id, name, servers) values (${proxy}, 'p',
      ${json([{ url: "http://proxy.example:8080", username: SECRET, password: SECRET }])}::text::jsonb)`;
  await sql`insert into crawl_configs (id, name, settings) values (${config}, 'c', ${json(settings.config)}::text::jsonb)`;
  await sql`
    insert into crawl_sources (id, name, type, url, options, schedule_cron, version)
    values (${source}, 's', 'site', 'https://example.org/', ${json(settings)}::text::jsonb, '0 4 * * *', 1)`;
  await sql`insert into signing_keys (id, private_key) values (1, ${`-----BEGIN PRIVATE KEY-----\n${SECRET}\n`})`;
  await sql`
    insert into dead_letters (id, queue, message_id, body, receive_count)
    values (${uuidv7()}, 'fetch-high', 'm', ${json({ taskId: "t", config: settings.config })}, 3)`;
  await put("warcs/a.warc.gz", "first file", { ContentType: "application/warc" });
  await put("warcs/b ä%2F..warc.gz", "second file");
  await put("uploads/../escape", "a key that climbs");
  await put("incoming/x.warc", "imported");
  await put("cache/answer", "made again");
  await sql`insert into warc_files (key, bytes, etag, written_at) values ('warcs/a.warc.gz', 10, 'old', now())`;
  return { job, running, webhook, proxy, source, config };
}

/** All rows of all saved tables, as text. */
export async function rowsOf(sql: Sql, tables: readonly string[]): Promise<Record<string, string[]>> {
  const found: Record<string, string[]> = {};
  for (const table of tables) {
    const rows = await sql.unsafe<{ row: string }[]>(`select t::text as row from "${table}" t order by 1`);
    if (rows.length > 0) found[table] = rows.map(({ row }) => row);
  }
  return found;
}
