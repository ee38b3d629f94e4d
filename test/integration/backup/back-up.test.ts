/** Back-ups of rows and objects, and what becomes of them when something is broken off, damaged, or in the way. */
import { readdir, readFile, rm, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { type BackupStore, createFolderStore } from "../../../shared/backup/backup-store.ts";
import { createBucketStore } from "../../../shared/backup/bucket.ts";
import { LEFT_OUT } from "../../../shared/backup/tables.ts";
import { testFolder } from "../../services/index.ts";
import { emptyStores, fill, rowsOf, SECRET, save, target } from "./stores.ts";

const PASSPHRASE = "a long enough passphrase";

async function filled() {
  const from = await emptyStores();
  const made = await fill(from);
  const folder = await testFolder();
  return { from, made, folder, store: createFolderStore(folder) };
}

/** All files, those that are packed as what is in them. */
async function texts(folder: string): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    const bytes = await readFile(path);
    found.set(path, (path.endsWith(".copy.gz") ? gunzipSync(bytes) : bytes).toString());
  }
  return found;
}

/** As if the process were killed: the call that `when` is true of, and each later one, fails. */
function killed(store: BackupStore, when: (call: string, file: string) => boolean): BackupStore {
  let isDead = false;
  const check = (call: string, file: string) => {
    isDead ||= when(call, file);
    if (isDead) throw new Error("killed");
  };
  return {
    ...store,
    async *read(file) {
      check("read", file);
      yield* store.read(file);
    },
    async write(file, chunks) {
      check("write", file);
      await store.write(file, chunks);
    },
    async remove(file) {
      check("remove", file);
      await store.remove(file);
    },
  };
}

const keysOf = async ({ list }: { list(prefix: string): AsyncIterable<{ key: string }[]> }) => {
  const keys: string[] = [];
  for await (const page of list("")) keys.push(...page.map(({ key }) => key));
  return keys.sort();
};

describe("a back-up", () => {
  it("holds every table of the catalogue, or says why not", async () => {
    const { from, store } = await filled();
    const { manifest } = await save(from, store);
    const all = await from.sql<
      { name: string }[]
    >`select tablename::text as name from pg_tables where schemaname = 'public'`;
    const saved = manifest.tables.map(({ name }) => name);
    const left = manifest.tables_left_out.map(({ table }) => table);
    expect([...saved, ...left].sort()).toEqual(all.map(({ name }) => name).sort());
    expect(left.sort()).toEqual(Object.keys(LEFT_OUT).sort());
  });

  it("makes the same rows and objects again, with the secrets that it has sealed", async () => {
    const { from, folder, store } = await filled();
    const { manifest } = await save(from, store, { passphrase: PASSPHRASE });
    for (const [path, text] of await texts(folder)) expect(text, path).not.toContain(SECRET);
    expect(manifest.secrets.left_out).toEqual({});

    const to = await emptyStores();
    const { told, load } = target(to);
    await load(store, { passphrase: PASSPHRASE });
    expect(told.finished).toEqual([new Map()]);
    expect(told.noted.backup).toBeUndefined();
    // what a restore changes on purpose: ETags, what is to be told anew, and that answers of before are outdated
    const begun = ["crawl_sources", "search_changes", "warc_files"];
    const tables = manifest.tables.map(({ name }) => name).filter((name) => !begun.includes(name));
    expect(await rowsOf(to.sql, tables)).toEqual(await rowsOf(from.sql, tables));
    const [source] = await to.sql`select options, schedule_pending from crawl_sources`;
    expect(source?.["schedule_pending"]).toBe(true);
    expect(JSON.stringify(source?.["options"])).toContain(SECRET);
    expect(await keysOf(to.bucket)).toEqual((await keysOf(from.bucket)).filter((key) => key !== "cache/answer"));
    for (const key of await keysOf(to.bucket)) {
      const [before, after] = [await from.bucket.get(key), await to.bucket.get(key)];
      expect(after?.headers).toEqual(before?.headers);
      expect(after?.etag).toBe(before?.etag);
    }
    const [{ next } = { next: 0 }] = await to.sql<{ next: number }[]>`select nextval('jobs_number_seq') as next`;
    expect(next).toBeGreaterThan(2);
  });

  it("leaves secrets out where it has no passphrase, and what would act with them rests", async () => {
    const { from, made, folder, store } = await filled();
    const { manifest } = await save(from, store);
    for (const [path, text] of await texts(folder)) expect(text, path).not.toContain(SECRET);
    expect(manifest.secrets.left_out).toMatchObject({
      "jobs.settings": [made.job, made.running].sort(),
      "webhooks.secrets": [made.webhook],
      "webhooks.headers": [made.webhook],
      "proxy_configs.servers": [made.proxy],
      "crawl_configs.settings": [made.config],
      "crawl_sources.options": [made.source],
      "signing_keys.private_key": ["1"],
    });

    const to = await emptyStores();
    const { withoutSecrets } = await target(to).load(store);
    expect([...(withoutSecrets.get("jobs.settings") ?? [])].sort()).toEqual([made.job, made.running].sort());
    expect(await to.sql`select is_active, secrets, headers from webhooks`).toEqual([
      { is_active: false, secrets: [], headers: {} },
    ]);
    expect(await to.sql`select is_active from proxy_configs`).toEqual([{ is_active: false }]);
    expect(await to.sql`select is_active from crawl_sources`).toEqual([{ is_active: false }]);
    expect(await to.sql`select from signing_keys`).toHaveLength(0);
  });

  it("is opened by its own passphrase alone", async () => {
    const { from, store } = await filled();
    await save(from, store, { passphrase: PASSPHRASE });
    const to = await emptyStores();
    await expect(target(to).load(store, { passphrase: "another one" })).rejects.toThrow(/passphrase is not the one/);
    const { withoutSecrets } = await target(to).load(store);
    expect([...withoutSecrets.keys()]).toContain("webhooks.secrets");
  });

  it("lies in a bucket as well, of whatever size its objects are", async () => {
    const { from } = await filled();
    const large = new Uint8Array(17 * 1024 * 1024).map((_, at) => at % 251);
    await from.put("warcs/large.warc.gz", large);
    const elsewhere = await emptyStores();
    const store = createBucketStore(elsewhere.bucket, "some/prefix", "s3://elsewhere/some/prefix");
    await save(from, store);
    expect((await keysOf(elsewhere.bucket)).every((key) => key.startsWith("some/prefix/"))).toBe(true);
    const again = await save(from, store);
    expect(again.reused).toBe(again.manifest.objects.count);

    const to = await emptyStores();
    await from.sql`insert into warc_files (key, bytes, etag, written_at) values ('warcs/large.warc.gz', 1, 'x', now())`;
    await save(from, store);
    await target(to).load(store);
    const [row] = await to.sql<{ etag: string }[]>`select etag from warc_files where key = 'warcs/large.warc.gz'`;
    // S3 names an object that was put in parts by its parts
    expect(row?.etag).toMatch(/-2$/);
    expect(row?.etag).toBe((await to.bucket.head("warcs/large.warc.gz"))?.etag);
    const chunks: Uint8Array[] = [];
    for await (const chunk of (await to.bucket.get("warcs/large.warc.gz"))?.body ?? []) chunks.push(chunk);
    expect(Buffer.concat(chunks).equals(large)).toBe(true);
  });

  it("names objects that rows speak of and that are not there", async () => {
    const { from, store } = await filled();
    await from.bucket.remove("warcs/a.warc.gz");
    const { manifest } = await save(from, store);
    expect(manifest.objects.missing).toEqual(["warcs/a.warc.gz"]);
  });

  it("is refused where something else lies", async () => {
    const { from, folder, store } = await filled();
    await writeFile(join(folder, "thesis.txt"), "years of work");
    await expect(save(from, store)).rejects.toThrow(/is no back-up, and not empty: it holds thesis.txt/);
  });
});

describe("a back-up that is broken off", () => {
  it("is none, and goes on with the objects that are there", async () => {
    const { from, store } = await filled();
    const dying = killed(store, (call, file) => call === "write" && file === "manifest.json");
    await expect(save(from, dying)).rejects.toThrow(/killed/);
    await expect(target(await emptyStores()).load(store)).rejects.toThrow(/a back-up was begun there/);
    const { manifest, reused } = await save(from, store);
    expect(reused).toBe(manifest.objects.count);
    await target(await emptyStores()).load(store);
  });

  it.each([
    ["while it writes tables", (call: string, file: string) => call === "write" && file.includes("/jobs.copy.gz")],
    ["while it copies objects", (call: string, file: string) => call === "write" && file.includes("objects/warcs/c")],
    ["while it removes what is outdated", (call: string) => call === "remove"],
  ])("leaves a whole one: %s", async (_when, when) => {
    const { from, made, store } = await filled();
    await save(from, store);
    await from.put("warcs/c", "third file");
    await expect(save(from, killed(store, when))).rejects.toThrow(/killed/);
    const to = await emptyStores();
    await target(to).load(store);
    expect(await to.sql`select from jobs where id = ${made.job}`).toHaveLength(1);
    // and the next one is as if nothing had been
    await save(from, store);
    const files: string[] = [];
    for await (const file of store.list("database")) files.push(file.split("/")[1] ?? "");
    expect(new Set(files).size).toBe(1);
  });
});

describe("a restore", () => {
  it("begins anew where it is killed, and goes on with the objects that are there", async () => {
    const { from, store } = await filled();
    const { manifest } = await save(from, store);
    const to = await emptyStores();
    const { load, told } = target(to);
    // each object and table is read twice: first to check it
    const reads = new Map<string, number>();
    const second = (wanted: string) => (call: string, file: string) => {
      if (call === "read") reads.set(file, (reads.get(file) ?? 0) + 1);
      return file.includes(wanted) && reads.get(file) === 2;
    };
    await expect(load(killed(store, second("objects/warcs/b")))).rejects.toThrow(/killed/);
    reads.clear();
    await expect(load(killed(store, second("/tags.copy.gz")))).rejects.toThrow(/killed/);
    expect(await to.sql`select from jobs`).toHaveLength(0);
    expect(told.finished).toEqual([]);
    let put = 0;
    await load(store, { onObject: () => put++ });
    // all but the one that wakes the indexer were there
    expect(put).toBe(1);
    expect(await to.sql`select from jobs`).toHaveLength(2);
    expect(await keysOf(to.bucket)).toHaveLength(manifest.objects.count);
  });

  it("does the rest where its rows are there already", async () => {
    const { from, store } = await filled();
    await save(from, store);
    const to = await emptyStores();
    const { load, told } = target(to, { times: 1 });
    await expect(load(store)).rejects.toThrow(/killed while it finished/);
    await load(store);
    expect(told.finished).toHaveLength(2);
    expect(told.noted.backup).toBeUndefined();
    await expect(load(store)).rejects.toThrow(/database is not empty/);
  });

  it.each([
    ["cut", async (path: string) => truncate(path, 5), /has 5 bytes instead of/],
    ["changed", async (path: string) => writeFile(path, (await readFile(path)).fill(7, 2)), /has another content/],
    ["missing", async (path: string) => rm(path), /is missing/],
  ])("refuses a back-up with a file that is %s, before anything is changed", async (_what, damage, message) => {
    const { from, folder, store } = await filled();
    await save(from, store);
    const to = await emptyStores();
    for (const part of ["objects/warcs/a.warc.gz", "jobs.copy.gz"]) {
      const path = [...(await texts(folder)).keys()].find((each) => each.endsWith(part)) ?? "";
      const whole = await readFile(path);
      await damage(path);
      const failed = target(to).load(store);
      await expect(failed).rejects.toThrow(message);
      await expect(failed).rejects.toThrow(part);
      expect(await keysOf(to.bucket)).toEqual([]);
      expect(await to.sql`select from jobs`).toHaveLength(0);
      await writeFile(path, whole);
    }
  });

  it("refuses an installation that holds something, and says what", async () => {
    const { from, store } = await filled();
    await save(from, store);
    const used = await emptyStores();
    await used.sql`insert into tags (id, name) values (gen_random_uuid(), 'mine')`;
    await expect(target(used).load(store)).rejects.toThrow(/database is not empty \(rows: tags 1\)/);
    const stored = await emptyStores();
    await stored.put("warcs/mine.warc.gz", "mine");
    await expect(target(stored).load(store)).rejects.toThrow(
      /holds 1 objects that are not in the back-up \(warcs\/mine/,
    );
    expect(await stored.sql`select from jobs`).toHaveLength(0);
  });

  it("keeps the key of the installation beside those of the back-up", async () => {
    const { from, store } = await filled();
    const key = (sql: typeof from.sql, name: string) =>
      sql`insert into api_keys (id, key_hash, prefix, name, scopes, rate_limit_rpm)
        values (gen_random_uuid(), ${Buffer.alloc(32, name)}, 'sl_', ${name}, '{admin}', 60)`;
    await key(from.sql, "theirs");
    await key(from.sql, "both");
    await save(from, store);
    const to = await emptyStores();
    await key(to.sql, "ours");
    await key(to.sql, "both");
    await target(to).load(store);
    const names = await to.sql<{ name: string }[]>`select name from api_keys order by name`;
    expect(names.map(({ name }) => name)).toEqual(["both", "ours", "theirs"]);
  });

  it("knows a folder without a back-up, and one of another program", async () => {
    const folder = await testFolder();
    const store = createFolderStore(join(folder, "nowhere"));
    const { load } = target(await emptyStores());
    await expect(load(store)).rejects.toThrow(/There is no back-up in/);
    await writeFile(join(folder, "manifest.json"), '{"format": "another"}');
    await expect(load(createFolderStore(folder))).rejects.toThrow(/is not as a back-up writes it/);
    await writeFile(join(folder, "manifest.json"), '{"format": "strandline-backup", "version": 2}');
    await expect(load(createFolderStore(folder))).rejects.toThrow(/back-up of version 2/);
  });
});
