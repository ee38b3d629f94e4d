import { createHash } from "node:crypto";
import { gunzipSync, gzipSync } from "node:zlib";
import { DeleteObjectCommand } from "@aws-sdk/client-s3";
import fc from "fast-check";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { cleanUpJob } from "../../../shared/archive/editions/clean-up.ts";
import { type RunnerDependencies, runSlice } from "../../../shared/archive/files/run-slice.ts";
import { createRun, readRun, resumeRuns, scheduleUpkeep } from "../../../shared/archive/files/runs.ts";
import { listWarcFiles, removeFile } from "../../../shared/archive/files/warc-files.ts";
import { buildWacz } from "../../../shared/archive/wacz/build-wacz.ts";
import { warcFileSetup } from "./warc-file-setup.ts";
import { zipEntries } from "./zip-file.ts";

const setup = await warcFileSetup();
const { sql, aws, dependencies, crawled, bodyOf, run, later, objects } = setup;
afterAll(() => setup.close());
beforeEach(async () => {
  await sql`delete from jobs`;
  await sql`truncate warc_files, warc_runs, warc_faults`;
  for (const key of [...(await objects()), ...(await objects("incoming/")), ...(await objects("archive-jobs/"))]) {
    await aws.s3.send(new DeleteObjectCommand({ Bucket: aws.bucket, Key: key }));
  }
});
const sha256 = (bytes: Buffer) => createHash("sha256").update(bytes).digest("hex");
const manifest = async () => await listWarcFiles(sql, { limit: 1000 });

describe("the WARC files of the archive", () => {
  it("are listed with their size, hash and the captures that point at them, uploads and what is missing among them", async () => {
    const { key } = await crawled(["one", "two"]);
    const gone = await crawled(["three"]);
    await aws.s3.send(new DeleteObjectCommand({ Bucket: aws.bucket, Key: gone.key }));
    await setup.put("incoming/a.warc", Buffer.from("WARC"));
    await setup.put("incoming/a.txt", Buffer.from("no WARC file"));
    const { found } = await run({ kind: "verify" });
    const bytes = await setup.bytes(key);
    expect(await manifest()).toEqual(
      [
        expect.objectContaining({ key: "incoming/a.warc", bytes: 4, captures: 0, faults: 2 }),
        expect.objectContaining({
          key,
          bytes: bytes.length,
          sha256: sha256(bytes),
          records: 5,
          captures: 2,
          faults: 0,
        }),
        expect.objectContaining({ key: gone.key, bytes: 0, sha256: null, captures: 1, faults: 1 }),
      ].sort((a, b) => (a.sample.key < b.sample.key ? -1 : 1)),
    );
    expect(found.map(({ code }) => code).sort()).toEqual(["NOT_A_RECORD", "NOT_A_WARC", "OBJECT_MISSING"]);
  });

  it.each([
    ["readable", []],
    ["gzip", ["MEMBER_DAMAGED"]],
    ["parsed", ["MEMBER_DAMAGED", "RECORD_MISSING"]],
    ["digests", ["MEMBER_DAMAGED", "RECORD_MISSING"]],
  ])("are verified up to the level %s, each fault with its place", async (level, codes) => {
    const { key, ids } = await crawled(["one", "two", "three"]);
    const place = await setup.pointer(ids[1] as number);
    const bytes = await setup.bytes(key);
    const at = (place?.offset ?? 0) + Math.floor((place?.length ?? 0) / 2);
    bytes.writeUInt8(bytes.readUInt8(at) ^ 0xff, at);
    await setup.put(key, bytes);
    const { found, status } = await run({ kind: "verify", level });
    expect(status).toBe("completed");
    expect(found.map(({ code }) => code).sort()).toEqual(codes);
    for (const { offset } of found) expect(offset).toBe(place?.offset);
  });

  it("are told apart from a name that none of them has", async () => {
    const { key } = await crawled(["one"]);
    expect((await run({ kind: "verify", key })).found).toEqual([]);
    const { found } = await run({ kind: "verify", key: `${key}%.data` });
    expect(found).toMatchObject([{ key: `${key}%.data`, code: "FILE_UNKNOWN" }]);
  });

  it("lie in WACZ files, too", async () => {
    const { jobId } = await crawled(["one", "two"]);
    const parts: Uint8Array[] = [];
    const options = { jobId, created: new Date(0), proceed: () => {} };
    await buildWacz(dependencies, options, async (bytes) => void parts.push(Buffer.from(bytes)));
    const file = Buffer.concat(parts);
    await setup.put("incoming/a.wacz", file);
    await run({ kind: "verify" });
    const [found] = await manifest();
    expect(found).toMatchObject({ key: "incoming/a.wacz", sha256: sha256(file), records: 3, faults: 0 });
    file.writeUInt8(file.readUInt8(400) ^ 0xff, 400);
    await setup.put("incoming/b.wacz", file);
    const { found: faults } = await run({ kind: "verify", key: "incoming/b.wacz" });
    expect(faults.map(({ code }) => code)).toContain("MEMBER_DAMAGED");
  });

  it("are told apart from others that were put in their place", async () => {
    const { key } = await crawled(["one"]);
    expect((await run({ kind: "verify" })).found).toEqual([]);
    await setup.put(key, await setup.bytes((await crawled(["another"])).key));
    expect((await run({ kind: "verify", level: "readable", key })).found).toEqual([
      expect.objectContaining({ key, code: "OBJECT_REPLACED" }),
    ]);
  });

  it("have records whose bytes are not those of their digests", async () => {
    const { key, ids } = await crawled(["one"]);
    const place = await setup.pointer(ids[0] as number);
    const bytes = await setup.bytes(key);
    const record = gunzipSync(bytes.subarray(place?.offset, (place?.offset ?? 0) + (place?.length ?? 0)));
    const changed = gzipSync(Buffer.from(record.toString("latin1").replace(/one(?=\r\n\r\n$)/, "two"), "latin1"));
    await setup.put(key, Buffer.concat([bytes.subarray(0, place?.offset), changed]));
    await sql`update captures set warc_length = ${changed.length}`;
    expect((await run({ kind: "verify", level: "parsed" })).found).toEqual([]);
    expect((await run({ kind: "verify" })).found).toEqual([expect.objectContaining({ code: "DIGEST_MISMATCH" })]);
  });
});

describe("consolidation", () => {
  it("copies small files byte for byte into one, which all captures read from when the old ones have gone", async () => {
    const first = await crawled(["one", "two"]);
    const second = await crawled(["three"]);
    const third = await crawled(["one"], { original: first.ids[0] as number });
    const before = await Promise.all([first, second, third].map(({ key }) => setup.bytes(key)));
    expect(await run({ kind: "consolidate" })).toMatchObject({
      status: "completed",
      counts: { files: 3, captures: 4 },
    });
    const [target] = (await objects("warcs/merged/")) as [string];
    const whole = await setup.bytes(target);
    for (const bytes of before) expect(whole.includes(bytes)).toBe(true);
    // until readers have come to their ends, the old ones stay
    await run({ kind: "clean" });
    expect(await objects()).toHaveLength(4);
    await later();
    expect(await run({ kind: "clean" })).toMatchObject({ status: "completed", counts: { files: 3 }, faults: 0 });
    expect(await objects()).toEqual([target]);
    const bodies = await Promise.all([...first.ids, ...second.ids, ...third.ids].map(bodyOf));
    expect(bodies).toEqual(["one", "two", "three", "one"]);
    expect((await run({ kind: "verify" })).found).toEqual([]);
    expect(await manifest()).toEqual([
      expect.objectContaining({ key: target, bytes: whole.length, sha256: sha256(whole), records: 12, captures: 4 }),
    ]);
  });

  it("leaves files alone that are damaged, of jobs that have not ended, or by others", async () => {
    const damaged = await crawled(["one"]);
    const bytes = await setup.bytes(damaged.key);
    await setup.put(damaged.key, bytes.subarray(0, -4));
    const running = await crawled(["two"]);
    await sql`update jobs set status = 'running' where id = ${running.jobId}`;
    const good = [await crawled(["three"]), await crawled(["four"])];
    const { found } = await run({ kind: "consolidate" });
    expect(found[0]).toMatchObject({ key: damaged.key, code: "FILE_CUT" });
    const merged = (await manifest()).filter(({ mergedInto }) => mergedInto !== null).map(({ key }) => key);
    expect(merged.sort()).toEqual(good.map(({ key }) => key).sort());
  });

  it("keeps an old file whose copy is not what it was", async () => {
    const { key } = await crawled(["one"]);
    await crawled(["two"]);
    await run({ kind: "consolidate" });
    const [target] = (await objects("warcs/merged/")) as [string];
    const bytes = await setup.bytes(target);
    bytes.writeUInt8(bytes.readUInt8(bytes.length - 20) ^ 0xff, bytes.length - 20);
    await setup.put(target, bytes);
    await later();
    const { found, counts } = await run({ kind: "clean" });
    expect(found.map(({ code }) => code)).toEqual(["COPY_MISSING"]);
    expect(counts).toMatchObject({ files: 1 });
    expect(await objects()).toContain(found[0]?.key ?? key);
  });

  it("stores a capture that was made before its file was copied with its place in the new file", async () => {
    const { key, ids } = await crawled(["one"]);
    await crawled(["two"]);
    const old = await setup.pointer(ids[0] as number);
    await run({ kind: "consolidate" });
    const moved = await setup.pointer(ids[0] as number);
    expect(moved?.key).not.toBe(key);
    const [late] = await sql<{ id: number; key: string; offset: number; dom: { key: string; offset: number } }[]>`
      insert into captures (job_id, url, url_hash, final_url, final_url_hash, depth, status_code, headers, mime_type, fetched_at,
        fetch_time_ms, payload_bytes, truncated, not_modified, batch_key, batch_index, warc_key, warc_offset, warc_length,
        warc_record_id, reused_from, rendered)
      select job_id, url, '', final_url, '', 0, 200, '[]', mime_type, now(), 0, 0, false, false, '', 1, ${key}, ${old?.offset ?? 0},
        warc_length, warc_record_id, id, jsonb_build_object('warc', jsonb_build_object('key', ${key}::text, 'offset',
          ${old?.offset ?? 0}::bigint)) from captures where id = ${ids[0] as number}
      returning id`;
    const id = late?.id as number;
    expect(await setup.pointer(id)).toEqual(moved);
    const [row] = await sql`select rendered->'warc' as dom from captures where id = ${id}`;
    expect(row).toEqual({ dom: { key: moved?.key, offset: moved?.offset } });
    expect(await bodyOf(id)).toBe("one");
  });
});

describe("temporary WARC files of an archive job", () => {
  const dir = "archive-jobs/books/20260102T030405Z__books__77/";
  const job = 77;
  const cleanUp = (using: Partial<RunnerDependencies> = {}) =>
    cleanUpJob({ ...dependencies, ...using }, job, { dryRun: false });

  /** A capture points into one by its body, and another one by its rendered DOM alone. */
  async function temporary(): Promise<{ ids: number[]; before: (string | undefined)[]; keys: string[] }> {
    await sql`delete from archive_jobs`;
    await sql`
      insert into sources (code, name, name_template, seeds, engine) values ('books', 'Books', 'books', '{}', 'zimit')
      on conflict do nothing`;
    await sql`
      insert into archive_jobs (id, source_code, name, output_dir, engine, status, config)
      values (${job}, 'books', 'books', ${dir}, 'zimit', 'indexed', '{}')`;
    const files = [await crawled(["one", "two"]), await crawled(["three"])];
    const keys = [`${dir}tmp/run-1/a.warc.gz`, `${dir}tmp/run-1/b.warc.gz`];
    for (const [index, { key }] of files.entries()) {
      await setup.put(keys[index] as string, await setup.bytes(key));
      await aws.s3.send(new DeleteObjectCommand({ Bucket: aws.bucket, Key: key }));
      await sql`update captures set warc_key = ${keys[index] as string} where warc_key = ${key}`;
    }
    await setup.put(`${dir}tmp/run-1/zimit.log`, Buffer.from("log"));
    const ids = files.flatMap((file) => file.ids);
    const before = await Promise.all(ids.map(bodyOf));
    expect(before).toEqual(["one", "two", "three"]);
    return { ids, before, keys };
  }
  const left = () => objects("archive-jobs/");

  it("stay while captures point at them, are copied into one of the archive's, and then can go", async () => {
    const { ids, before, keys } = await temporary();
    await expect(cleanUp()).rejects.toMatchObject({ code: "FILES_IN_USE", details: { captures: 3 } });
    expect(await left()).toHaveLength(3);
    expect(await run({ kind: "consolidate" })).toMatchObject({
      status: "completed",
      faults: 0,
      counts: { files: 2, captures: 3 },
    });
    expect(await left()).toHaveLength(3);
    expect(await cleanUp()).toMatchObject({ files: 3, job: { cleanupStatus: "temp_cleaned" } });
    expect(await left()).toEqual([]);
    expect(await Promise.all(ids.map(bodyOf))).toEqual(before);
    const rows = await sql<{ gone: boolean }[]>`
      select deleted_at is not null as gone from warc_files where key = any (${keys})`;
    expect(rows).toEqual([{ gone: true }, { gone: true }]);
    expect((await run({ kind: "verify" })).found).toEqual([]);
  });

  it("are needed by a rendered DOM alone, too, and go one by one whatever their size", async () => {
    const { ids, keys } = await temporary();
    const [key = ""] = keys;
    const place = await setup.pointer(ids[0] as number);
    const dom = { ...place, key };
    await sql`delete from captures where id = any (${ids.slice(1)})`;
    await sql`
      update captures set warc_key = null, warc_offset = null, warc_length = null,
        rendered = jsonb_build_object('warc', ${JSON.stringify(dom)}::text::jsonb) where id = ${ids[0] as number}`;
    await expect(cleanUp()).rejects.toMatchObject({ code: "FILES_IN_USE", details: { captures: 1 } });
    const limits = { ...dependencies.limits, targetBytes: 10 };
    expect(await run({ kind: "consolidate" }, { limits })).toMatchObject({ status: "completed", counts: { files: 1 } });
    await cleanUp();
    const [target] = (await objects("warcs/merged/")) as [string];
    const [row] = await sql<{ key: string; offset: number }[]>`
      select rendered->'warc'->>'key' as key, (rendered->'warc'->>'offset')::int as "offset" from captures
      where id = ${ids[0] as number}`;
    const whole = await setup.bytes(target);
    expect(row?.key).toBe(target);
    const record = gunzipSync(whole.subarray(row?.offset, (row?.offset ?? 0) + (place?.length ?? 0)));
    expect(record.toString()).toContain(place?.recordId);
  });

  it("are left alone while their job, or an import of them, is under way", async () => {
    await temporary();
    await sql`update archive_jobs set status = 'running'`;
    expect((await run({ kind: "consolidate" })).counts).toMatchObject({ files: 0 });
    await expect(cleanUp()).rejects.toMatchObject({ code: "JOB_STATE" });
    expect(await left()).toHaveLength(3);
  });

  it("lose nothing to whoever is stopped between the steps", async () => {
    const { ids, before, keys } = await temporary();
    const stop = () => Promise.reject(new Error("stopped"));
    // the copy is written, and is not read again
    let reads = 0;
    const uploads: RunnerDependencies["uploads"] = {
      ...dependencies.uploads,
      stream: (...args) => {
        if (args[0].startsWith("warcs/merged/") && reads++ === 0) throw new Error("stopped");
        return dependencies.uploads.stream(...args);
      },
    };
    await expect(run({ kind: "consolidate" }, { uploads })).rejects.toThrow("stopped");
    expect(await Promise.all(ids.map(bodyOf))).toEqual(before);
    await expect(cleanUp()).rejects.toMatchObject({ code: "FILES_IN_USE" });
    await sql`delete from warc_runs`;
    await run({ kind: "consolidate" });
    // a file is marked as gone, and its object is still there
    await expect(cleanUp({ objects: { ...dependencies.objects, remove: stop } })).rejects.toThrow("stopped");
    expect(await Promise.all(ids.map(bodyOf))).toEqual(before);
    expect(await left()).toHaveLength(3);
    // the first object has gone, and its row does not say so
    const [first = ""] = keys;
    await aws.s3.send(new DeleteObjectCommand({ Bucket: aws.bucket, Key: first }));
    await cleanUp();
    expect(await left()).toEqual([]);
    const [{ open } = { open: -1 }] = await sql<{ open: number }[]>`
      select count(*)::int as open from warc_files where key = any (${keys}) and deleted_at is null`;
    expect(open).toBe(0);
    expect(await Promise.all(ids.map(bodyOf))).toEqual(before);
  });

  it("stay where the file with their copies is not there", async () => {
    await temporary();
    await run({ kind: "consolidate" });
    const [target = ""] = await objects("warcs/merged/");
    await aws.s3.send(new DeleteObjectCommand({ Bucket: aws.bucket, Key: target }));
    await expect(cleanUp()).rejects.toMatchObject({ code: "FILES_IN_USE", details: { key: target } });
    expect(await left()).toHaveLength(3);
  });
});

describe("an export of a job", () => {
  const contents = async (jobId: string): Promise<Map<string, Buffer>> => {
    const parts: Uint8Array[] = [];
    const options = { jobId, created: new Date(0), proceed: () => {} };
    await buildWacz(dependencies, options, async (bytes) => void parts.push(Buffer.from(bytes)));
    const entries = zipEntries(Buffer.concat(parts));
    return new Map([...entries].filter(([name]) => /^(archive|indexes)/.test(name)));
  };

  it("holds the same after its files were copied into one with those of others, and once more into another", async () => {
    const first = await crawled(["one", "two"]);
    const second = await crawled(["three"]);
    const repeats = await crawled(["one"], { original: first.ids[0] as number });
    const jobs = [first, second, repeats].map(({ jobId }) => jobId);
    const before = await Promise.all(jobs.map(contents));
    await run({ kind: "consolidate" });
    expect(await Promise.all(jobs.map(contents))).toEqual(before);
    await crawled(["four"]);
    await run({ kind: "consolidate" });
    await later();
    await run({ kind: "clean" });
    expect(await objects()).toHaveLength(1);
    expect(await Promise.all(jobs.map(contents))).toEqual(before);
    expect((await manifest()).map(({ captures }) => captures)).toEqual([5]);
  });
});

describe("cleaning", () => {
  it("deletes what no capture has pointed at for long, says before what that is, and nothing else", async () => {
    const kept = await crawled(["one"]);
    const orphan = await crawled(["two"], { stored: false });
    await setup.put("incoming/a.warc", Buffer.from("WARC"));
    expect(await run({ kind: "clean" })).toMatchObject({ counts: { files: 0 } });
    await later();
    expect(await run({ kind: "clean", dryRun: true })).toMatchObject({ counts: { files: 1 } });
    expect(await objects()).toHaveLength(2);
    expect(await run({ kind: "clean" })).toMatchObject({ counts: { files: 1 } });
    expect(await objects()).toEqual([kept.key]);
    expect(await objects("incoming/")).toHaveLength(1);
    await expect(
      sql`insert into captures (job_id, url, url_hash, final_url, final_url_hash, depth, status_code, headers, fetched_at,
          fetch_time_ms, payload_bytes, truncated, not_modified, batch_key, batch_index, warc_key)
        select id, '', '', '', '', 0, 200, '[]', now(), 0, 0, false, false, '', 0, ${orphan.key} from jobs limit 1`,
    ).rejects.toThrow("was removed");
  });

  it("never takes a file at which a capture points, whoever asks", async () => {
    const { key, ids } = await crawled(["one"]);
    await run({ kind: "verify" });
    expect(await removeFile(sql, dependencies.objects, key)).toBe(false);
    await sql`update warc_files set unused_since = 'epoch', written_at = 'epoch'`;
    expect(await run({ kind: "clean" })).toMatchObject({ counts: { files: 0 } });
    expect(await bodyOf(ids[0] as number)).toBe("one");
  });

  it("waits for who writes a capture that points at the file at that moment", async () => {
    const { key, ids } = await crawled(["one"]);
    await run({ kind: "verify" });
    const old = await setup.pointer(ids[0] as number);
    await sql`delete from captures`;
    let removal: Promise<boolean> | undefined;
    await sql.begin(async (tx) => {
      await tx`
        insert into captures (job_id, url, url_hash, final_url, final_url_hash, depth, status_code, headers, fetched_at,
          fetch_time_ms, payload_bytes, truncated, not_modified, batch_key, batch_index, warc_key, warc_offset)
        select id, '', '', '', '', 0, 200, '[]', now(), 0, 0, false, false, '', 0, ${key}, ${old?.offset ?? 0} from jobs limit 1`;
      removal = removeFile(sql, dependencies.objects, key);
      await expect
        .poll(async () => (await tx`select from pg_locks where locktype = 'advisory' and not granted`).length)
        .toBe(1);
    });
    expect(await removal).toBe(false);
    expect(await objects()).toEqual([key]);
  });
});

describe("a run", () => {
  it("goes on where a slice had no time left, is sent again where its message is lost, and given up at last", async () => {
    for (const body of ["one", "two", "three"]) await crawled([body]);
    const { id } = await createRun(dependencies, { kind: "verify", level: "digests" }, null);
    await aws.receive("warc-runs");
    await sql`update warc_runs set updated_at = now() - interval '2 minutes'`;
    expect(await resumeRuns(dependencies)).toBe(1);
    let slices = 0;
    for (; (await aws.receive("warc-runs")).length > 0; slices++) await runSlice(dependencies, id, () => 50_000);
    expect(slices).toBeGreaterThan(3);
    expect(await readRun(sql, id)).toMatchObject({ status: "completed", counts: { files: 3 } });
    const broken = {
      ...dependencies,
      uploads: { ...dependencies.uploads, head: () => Promise.reject(new Error("away")) },
    };
    const { id: hopeless } = await createRun(dependencies, { kind: "verify", level: "digests" }, null);
    // the first one has listed the files
    for (let times = 0; times < 6; times++)
      await expect(runSlice(broken, hopeless, () => 900_000)).rejects.toThrow("away");
    await runSlice(broken, hopeless, () => 900_000);
    expect(await readRun(sql, hopeless)).toMatchObject({
      status: "failed",
      error: expect.stringContaining("RUN_STOPS"),
    });
  });

  it("is begun by itself once in its time, and not where that is 0", async () => {
    expect(await scheduleUpkeep(sql, 0)).toBe(0);
    expect(await scheduleUpkeep(sql, 24)).toBe(2);
    expect(await scheduleUpkeep(sql, 24)).toBe(0);
    await sql`update warc_runs set status = 'completed', created_at = now() - interval '25 hours'`;
    expect(await scheduleUpkeep(sql, 24)).toBe(2);
    expect(await resumeRuns(dependencies)).toBe(2);
  });
});

/** Throws at the n-th call of anything that it wraps. */
function failing(all: RunnerDependencies, at: number): RunnerDependencies {
  let calls = 0;
  const wrap = <T extends object>(part: T): T =>
    new Proxy(part, {
      get(target, name, receiver) {
        const value = Reflect.get(target, name, receiver) as unknown;
        if (typeof value !== "function") return value;
        return (...given: unknown[]) => {
          if (++calls === at) throw new Error("the process ends here");
          const result = (value as (...given: unknown[]) => unknown).apply(target, given);
          return result;
        };
      },
    });
  return {
    ...all,
    objects: wrap(all.objects),
    uploads: wrap(all.uploads),
    openWriter: async (...given) => wrap(await all.openWriter(...given)),
  };
}

describe("whatever is done in whatever order", () => {
  const step = fc.oneof(
    {
      weight: 4,
      arbitrary: fc.record({
        do: fc.constant("crawl" as const),
        pages: fc.integer({ min: 1, max: 3 }),
        of: fc.option(fc.nat()),
      }),
    },
    { weight: 1, arbitrary: fc.record({ do: fc.constant("reuse" as const), of: fc.nat() }) },
    { weight: 5, arbitrary: fc.record({ do: fc.constant("late" as const), of: fc.nat() }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant("lose" as const) }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant("delete" as const), of: fc.nat() }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant("import" as const) }) },
    { weight: 2, arbitrary: fc.record({ do: fc.constant("later" as const) }) },
    { weight: 4, arbitrary: fc.record({ do: fc.constant("turnover" as const) }) },
    {
      weight: 6,
      arbitrary: fc.record({
        do: fc.constant("run" as const),
        kind: fc.constantFrom("consolidate", "clean", "verify"),
        stopsAt: fc.option(fc.integer({ min: 1, max: 30 })),
      }),
    },
  );

  it("each capture is replayed with the bytes that it had", { timeout: 240_000 }, async () => {
    let serial = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 14 }), async (steps) => {
        const bodies = new Map<number, string>();
        const originals = new Map<number, string>();
        /** Pointers as somebody has read them a while ago. */
        const stale: { id: number; key: string; offset: number }[] = [];
        const pick = (of: number) => [...originals.keys()][of % Math.max(1, originals.size)];
        const repeat = async (id: number, place: { key: string; offset: number }) => {
          const [row] = await sql<{ id: number }[]>`
            insert into captures (job_id, url, url_hash, final_url, final_url_hash, depth, status_code, headers, mime_type,
              fetched_at, fetch_time_ms, payload_bytes, truncated, not_modified, batch_key, batch_index, warc_key, warc_offset,
              warc_length, warc_record_id, reused_from)
            select job_id, url, '', final_url, '', 0, 200, '[]', mime_type, now(), 0, 0, false, false, '', 1, ${place.key},
              ${place.offset}, warc_length, warc_record_id, id from captures where id = ${id} returning id`;
          bodies.set(row?.id as number, originals.get(id) as string);
        };
        for (const each of steps) {
          switch (each.do) {
            case "crawl": {
              const original = each.of === null ? undefined : pick(each.of);
              const body = `body ${++serial}`;
              const texts = Array.from({ length: each.pages }, (_, page) =>
                original === undefined ? `${body} ${page}` : (originals.get(original) as string),
              );
              const { ids } = await crawled(texts, { original: original ?? null });
              for (const [index, id] of ids.entries()) {
                bodies.set(id, texts[index] as string);
                if (original === undefined) originals.set(id, texts[index] as string);
                const place = await setup.pointer(id);
                if (place !== undefined && original === undefined) stale.push({ id, ...place });
              }
              break;
            }
            case "reuse": {
              const id = pick(each.of);
              const place = id === undefined ? undefined : await setup.pointer(id);
              if (id !== undefined && place !== undefined) await repeat(id, place);
              break;
            }
            case "late": {
              const place = stale[each.of % Math.max(1, stale.length)];
              if (place !== undefined) await repeat(place.id, place);
              break;
            }
            case "lose":
              await crawled([`lost ${++serial}`], { stored: false });
              break;
            case "delete": {
              // what nothing else refers to
              const id = [...bodies.keys()].filter((one) => !originals.has(one))[each.of % 7];
              if (id === undefined) break;
              await sql`delete from captures where id = ${id}`;
              bodies.delete(id);
              break;
            }
            case "import": {
              const url = `https://example.net/${++serial}`;
              const block = `HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\nimported ${serial}`;
              const head =
                `WARC/1.1\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:uuid:${crypto.randomUUID()}>\r\n` +
                `WARC-Date: 2026-01-02T03:04:05Z\r\nWARC-Target-URI: ${url}\r\nContent-Type: application/http\r\n` +
                `Content-Length: ${block.length}\r\n\r\n`;
              await setup.importRecords([Buffer.from(`${head}${block}\r\n\r\n`)]);
              bodies.set(await setup.captureOf(url), `imported ${serial}`);
              break;
            }
            case "turnover":
              await run({ kind: "consolidate" });
              await later();
              await run({ kind: "clean" });
              break;
            case "later":
              await later();
              break;
            case "run": {
              const { kind, stopsAt } = each;
              if (stopsAt === null) {
                const { status, found } = await run({ kind });
                expect({ status, found }).toEqual({ status: "completed", found: [] });
              } else {
                await run({ kind }, failing(dependencies, stopsAt)).catch((error: Error) => {
                  if (error.message !== "the process ends here") throw error;
                });
              }
              break;
            }
          }
          for (const [id, body] of bodies) expect([await bodyOf(id), await setup.hasRecord(id)]).toEqual([body, true]);
        }
        // what was left half done is done, and nothing that is needed has gone
        for (const kind of ["consolidate", "clean", "verify"]) {
          await sql`update warc_runs set status = 'failed' where status in ('pending', 'running')`;
          await later();
          expect(await run({ kind })).toMatchObject({ status: "completed", found: [] });
        }
        for (const [id, body] of bodies) expect([await bodyOf(id), await setup.hasRecord(id)]).toEqual([body, true]);
        const needed = await sql<{ key: string }[]>`
          select distinct warc_key as key from captures where warc_key like 'warcs/%' order by key`;
        await later();
        await run({ kind: "clean" });
        expect(await objects()).toEqual(needed.map(({ key }) => key));
        await sql`delete from jobs`;
        await sql`truncate warc_files, warc_runs, warc_faults`;
        for (const key of await objects()) await aws.s3.send(new DeleteObjectCommand({ Bucket: aws.bucket, Key: key }));
      }),
      { numRuns: 15 },
    );
  });
});
