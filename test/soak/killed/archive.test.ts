/** An archive that is crawled, imported into, exported, withheld, copied and cleaned, and killed while it is. */
import { createHash } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import postgres from "postgres";
import { afterAll, beforeAll, expect, it } from "vitest";
import { http, record } from "../../integration/archive/warc-records.ts";
import { type Instance, startInstance } from "../../services/instance.ts";
import { type Site, startSite } from "../../sites/site.ts";

const PAGES = 40;
/** Of a file: some seconds of work. */
const RECORDS = 500;

/** What is begun before each kill, in this order. */
const ROUNDS = [
  ["crawl", "import", "consolidate", "reindex"],
  ["import", "crawl", "export", "clean"],
  ["exclude", "consolidate", "crawl", "clean", "import", "delete"],
  ["reveal", "embargo", "clean", "import again", "reindex", "crawl", "consolidate"],
  ["reveal", "export", "delete", "consolidate", "import", "clean", "crawl"],
] as const;
type Step = (typeof ROUNDS)[number][number];

let site: Site;
let instance: Instance;
let home: string;
let edition = 0;
/** By URL: all that the server has ever said, as the archive must give it back. */
const said = new Map<string, Set<string>>();
const env = () => ({
  EMBEDDER__PROVIDER: "none",
  ACCESS__ALLOW_HOSTS: site.host,
  RATE_LIMIT__API_RPM: "1000000",
  ARCHIVE__MERGED_WARC_MB: "1",
  ARCHIVE__UPKEEP_HOURS: "0",
  // it reads each capture again and again
  ARCHIVE__REQUESTS_PER_MINUTE: "0",
});

beforeAll(async () => {
  site = await startSite({ "/robots.txt": { status: 404 } }, ({ url = "/" }) => {
    const index = Number(/^\/(\d*)$/.exec(url)?.[1] || 0);
    // every third page stays as it was, and is a revisit from the second crawl on
    const of = index % 3 === 0 ? 0 : edition;
    const links = Array.from({ length: PAGES }, (_, page) => `<a href="/${page}">${page}</a>`).join(" ");
    const body = `<title>Page ${index}</title><h1>Page ${index}</h1><p>As of edition ${of}.</p>${links}`;
    note(`${site.origin}${url}`, body);
    return { headers: { "content-type": "text/html; charset=utf-8" }, body };
  });
  home = await mkdtemp(join(tmpdir(), "strandline archive "));
  instance = await startInstance({ home, env: env() });
});
afterAll(async () => {
  await instance?.stop();
  await site?.close();
  await rm(home, { recursive: true, force: true });
});

const note = (url: string, body: string) => said.set(url, (said.get(url) ?? new Set()).add(body));

/** Of imports: the captures that each must have in the end. */
const imports: { id: string; key: string; deleted: boolean }[] = [];
const crawls: string[] = [];
const exported: string[] = [];
/** Some of the pages: exports of the others go on. */
const withheldUrls = () => `${site.origin}/1*`;
/** How whoever asks for a capture of one of them is refused at present. */
let refusal: number | undefined;

const steps: Record<Step, (sql: postgres.Sql) => Promise<unknown>> = {
  async crawl() {
    edition++;
    const request = { url: `${site.origin}/0`, max_depth: 2, max_pages: PAGES, config: { rate_limit_rps: 200 } };
    crawls.push((await instance.call<{ job_id: string }>("POST", "/api/v1/crawl/deep", request)).job_id);
  },
  async import(sql) {
    const serial = imports.length;
    const members = Array.from({ length: RECORDS }, (_, index) => {
      const url = `https://imported-${serial}.example/${index}`;
      const body = `<title>${index}</title><h1>Imported ${serial}</h1><p>It is number ${index} of its file.</p>`;
      note(url, body);
      return gzipSync(record(http(body), { url, id: `urn:uuid:${crypto.randomUUID()}` }));
    });
    const file = Buffer.concat(members);
    const announced = {
      filename: `${serial}.warc.gz`,
      bytes: file.length,
      sha256: createHash("sha256").update(file).digest("hex"),
    };
    const upload = await instance.call<{ id: string; key: string; uploadUrl: string; headers: Record<string, string> }>(
      "POST",
      "/api/admin/warcs",
      announced,
    );
    expect((await fetch(upload.uploadUrl, { method: "PUT", headers: upload.headers, body: file })).status).toBe(200);
    imports.push({ id: upload.id, key: upload.key, deleted: false });
    await expect
      .poll(async () => (await sql`select 1 from warc_imports where id = ${upload.id} and captures > 0`).length)
      .toBe(1);
  },
  async "import again"() {
    for (const { key, deleted } of imports) if (!deleted) await instance.call("POST", "/api/admin/warcs", { key });
  },
  async export() {
    const [jobId] = crawls;
    await instance.waitForJob(jobId ?? "");
    exported.push((await instance.call<{ id: string }>("POST", "/api/v1/exports", { job_id: jobId })).id);
  },
  async exclude() {
    await instance.call("POST", "/api/admin/exclusions", { url: withheldUrls() });
    refusal = 451;
  },
  async embargo() {
    await instance.call("POST", "/api/admin/exclusions", { url: withheldUrls(), embargoDays: 7 });
    refusal = 403;
  },
  async reveal() {
    const { items } = await instance.call<{ items: { id: string }[] }>("GET", "/api/admin/exclusions");
    for (const { id } of items) await instance.call("DELETE", `/api/admin/exclusions/${id}`);
    refusal = undefined;
  },
  consolidate: () => instance.call("POST", "/api/admin/warc-runs", { kind: "consolidate" }),
  async clean(sql) {
    // all waiting times are over
    await sql`
      update warc_files set merged_at = merged_at - interval '1 year', unused_since = unused_since - interval '1 year',
        written_at = written_at - interval '1 year'`;
    await instance.call("POST", "/api/admin/warc-runs", { kind: "clean" });
  },
  async delete(sql) {
    const ended = await sql<{ id: string }[]>`
      delete from jobs where id = (
        select i.job_id from warc_imports i join jobs j on j.id = i.job_id
        where j.status = 'completed' and i.status = 'completed' order by i.id limit 1) returning id`;
    expect(ended).toHaveLength(1);
    const left = await sql<{ id: string }[]>`select id from warc_imports`;
    for (const each of imports) each.deleted = !left.some(({ id }) => id === each.id);
  },
  // what all pages say is read anew, for the search and for what changed
  reindex: (sql) => sql`
    with due as (insert into snapshots_due (capture_id) select capture_id from snapshot_index on conflict do nothing)
    insert into changes_backfill (next_id, last_id) select 0, coalesce(max(id), 0) from captures
    on conflict (id) do update set next_id = 0, last_id = excluded.last_id`,
};

it("whatever is done in whatever order, and however often it is killed, each capture is replayed as it was sent", async () => {
  for (const round of ROUNDS) {
    const held = await withDatabase(async (sql) => {
      for (const step of round) await steps[step](sql);
      return await leases(sql);
    });
    await instance.kill();
    instance = await startInstance({ home, port: instance.port, env: env() });
    const found = await withDatabase(leases);
    // whoever held one is gone, and has not come back for it
    expect(found.filter((lease) => held.includes(lease))).toEqual([]);
    await withDatabase(withheld);
  }
  await withDatabase(async (sql) => {
    for (const jobId of crawls) {
      const { counts } = await instance.waitForJob(jobId, 900_000);
      expect(counts).toMatchObject({ discovered: PAGES, crawled: PAGES, failed: 0, open: 0 });
    }
    const open = () => sql<{ what: string; count: number }[]>`
      select * from (
        select 'imports' as what, count(*)::int from warc_imports i join jobs j on j.id = i.job_id
          where i.status <> 'completed' or j.status <> 'completed'
        union all select 'runs', count(*)::int from warc_runs where status <> 'completed'
        union all select 'exports', count(*)::int from exports where status <> 'completed'
        union all select 'snapshots', count(*)::int from snapshots_due
        union all select 'changes', count(*)::int from changes_due) each where count > 0`;
    await expect.poll(open, { timeout: 900_000, interval: 500 }).toEqual([]);
    await verified();
    expect(await sql`select 1 from dead_letters`).toHaveLength(0);
    expect(await sql`select 1 from warc_complaints`).toHaveLength(0);

    const perJob = await sql<{ id: string; captures: number; urls: number }[]>`
      select job_id as id, count(*)::int as captures, count(distinct url)::int as urls from captures group by 1`;
    const expected = [
      ...crawls.map((id) => ({ id, captures: PAGES, urls: PAGES })),
      ...(await jobsOfImports(sql)).map((id) => ({ id, captures: RECORDS, urls: RECORDS })),
    ];
    const byId = (a: { id: string }, b: { id: string }) => (a.id < b.id ? -1 : 1);
    expect([...perJob].sort(byId)).toEqual(expected.sort(byId));
    for (const id of exported) {
      const { download, sha256 } = await instance.call<Export>("GET", `/api/v1/exports/${id}`);
      const file = Buffer.from(await (await fetch(download?.url ?? "")).arrayBuffer());
      expect(createHash("sha256").update(file).digest("hex")).toBe(sha256);
    }
    await replayed(sql);
    // and once more after all has been copied and what nothing needs has gone
    await steps.consolidate(sql);
    await expect.poll(open, { timeout: 900_000, interval: 500 }).toEqual([]);
    await steps.clean(sql);
    await expect.poll(open, { timeout: 900_000, interval: 500 }).toEqual([]);
    await replayed(sql);
    await verified();
  });
});

interface Export {
  download: { url: string } | null;
  sha256: string;
}

/** What is withheld is not shown, whatever becomes of its files. */
async function withheld(sql: postgres.Sql): Promise<void> {
  if (refusal === undefined) return;
  const [newest] = await sql<{ id: number }[]>`
    select id::int from captures where final_url like ${withheldUrls().replace("*", "%")} and mime_type like '%html%'
    order by id desc limit 1`;
  const answer = await fetch(`${instance.url}/api/snapshots/raw/${newest?.id}`);
  await answer.text();
  expect(answer.status).toBe(refusal);
}

/** What somebody works on, until when. */
async function leases(sql: postgres.Sql): Promise<string[]> {
  const rows = await sql<{ lease: string }[]>`
    select 'import ' || id || ' ' || lease_until as lease from warc_imports where lease_until > now()
    union all select 'run ' || id || ' ' || lease_until from warc_runs where lease_until > now()
    union all select 'export ' || id || ' ' || lease_until from exports where lease_until > now()
    union all select 'snapshot ' || capture_id || ' ' || not_before from snapshots_due where not_before > now()
    union all select 'change ' || id || ' ' || not_before from changes_due where not_before > now()`;
  return rows.map(({ lease }) => lease);
}

async function jobsOfImports(sql: postgres.Sql): Promise<string[]> {
  const ids = imports.filter(({ deleted }) => !deleted).map(({ id }) => id);
  const rows = await sql<{ id: string }[]>`select job_id as id from warc_imports where id = any(${ids}::uuid[])`;
  expect(rows).toHaveLength(ids.length);
  return rows.map(({ id }) => id);
}

/** Reads every snapshot there is as anybody would. */
async function replayed(sql: postgres.Sql): Promise<void> {
  const captures = await sql<{ id: number; url: string }[]>`
    select id::int, final_url as url from captures where mime_type like '%html%' or revisit_of is not null order by id`;
  expect(captures.length).toBeGreaterThan(RECORDS);
  const wrong: string[] = [];
  const queue = [...captures];
  const reader = async () => {
    for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
      const answer = await fetch(`${instance.url}/api/snapshots/raw/${next.id}`);
      const body = await answer.text();
      if (answer.status !== 200 || !said.get(next.url)?.has(body)) wrong.push(`${next.url}: ${answer.status} ${body}`);
    }
  };
  await Promise.all([reader(), reader(), reader(), reader()]);
  expect(wrong).toEqual([]);
}

async function verified(): Promise<void> {
  const { id } = await instance.call<{ id: string }>("POST", "/api/admin/warc-runs", { kind: "verify" });
  const read = () => instance.call<{ status: string; faults: unknown[] }>("GET", `/api/admin/warc-runs/${id}`);
  await expect.poll(async () => (await read()).status, { interval: 500 }).toBe("completed");
  expect((await read()).faults).toEqual([]);
}

async function withDatabase<T>(work: (sql: postgres.Sql) => Promise<T>): Promise<T> {
  const sql = postgres(instance.postgresUrl, { max: 1, onnotice: () => {} });
  try {
    return await work(sql);
  } finally {
    await sql.end();
  }
}
