/** What tests of the crawl engine ask of a runtime, and what its books say of a job. */
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { S3Client } from "@aws-sdk/client-s3";
import postgres from "postgres";
import { expect } from "vitest";
import { credentialsIn } from "../../../local/front/credentials.ts";
import { readWarcRecord, type WarcRecordContents } from "../../../shared/capture/warc-reader.ts";
import { createObjectStore } from "../../../shared/platform/aws/objects.ts";
import type { RunningInstance } from "../../services/instance.ts";

export interface Engine {
  instance: RunningInstance;
  sql: postgres.Sql;
  /** The answer, whatever its status; `body` is sent as JSON. */
  send(method: string, path: string, body?: unknown, init?: RequestInit): Promise<Response>;
  /**
   * The answer's JSON.
   * @throws where it is not 2xx
   */
  post<T>(path: string, body: unknown): Promise<T>;
  /**
   * POST /spider/crawl in the mode `store`, at full speed unless `body` says otherwise.
   * @returns the id of the job
   */
  store(body: Record<string, unknown>): Promise<string>;
  /** Every result of the job, by cursor. */
  results(jobId: string, selection?: string): Promise<Page[]>;
  /** The record that a capture points at, from S3. */
  record(pointer: { warc_key: string; warc_offset: number; warc_length: number }): Promise<WarcRecordContents>;
  /** Closes its connections; the runtime goes on. */
  close(): Promise<void>;
}

export interface Page {
  url: string;
  depth: number;
  status_code: number;
  final_url?: string;
  fetch_error?: string;
  title?: string;
  content?: string;
  markdown?: string;
  links?: string[];
}

export const FULL_SPEED = { rate_limit_rps: 2_000 };

/** @param apiKey with which requests are sent; the admin key of the runtime where not given */
export function engineOf(instance: RunningInstance, apiKey = instance.apiKey): Engine {
  const sql = postgres(instance.postgresUrl, { max: 1, onnotice: () => {} });
  const send: Engine["send"] = (method, path, body, { headers, ...init } = {}) =>
    fetch(instance.url + path, {
      method,
      ...init,
      headers: {
        authorization: `Bearer ${apiKey}`,
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...(headers as object),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  const post = async <T>(path: string, body: unknown): Promise<T> => {
    const response = await send("POST", path, body);
    const text = await response.text();
    if (!response.ok) throw new Error(`POST ${path}: ${response.status} ${text}`);
    return JSON.parse(text) as T;
  };
  return {
    instance,
    sql,
    send,
    post,
    async store(body) {
      const path = "/spider/crawl?result_mode=store";
      return (await post<{ job_id: string }>(path, { config: FULL_SPEED, ...body })).job_id;
    },
    async results(jobId, selection = "") {
      const pages: Page[] = [];
      for (let cursor = 0, more = true; more; ) {
        const path = `/jobs/${jobId}/results?limit=500&cursor=${cursor}&${selection}`;
        const answer = await instance.call<{ pages: Page[]; cursor: number; has_more: boolean }>("GET", path);
        pages.push(...answer.pages);
        ({ cursor, has_more: more } = answer);
      }
      return pages;
    },
    async record({ warc_key: key, warc_offset: offset, warc_length: length }) {
      const { env: services } = JSON.parse(await readFile(join(instance.home, "runtime.json"), "utf8")) as {
        env: Record<string, string>;
      };
      const client = new S3Client({
        endpoint: services["AWS_ENDPOINT_URL_S3"] ?? "",
        region: services["AWS_REGION"] ?? "us-east-1",
        forcePathStyle: true,
        credentials: credentialsIn(services),
      });
      try {
        const objects = createObjectStore(client, services["STORAGE__BUCKET"] ?? "");
        return await readWarcRecord(objects, { key, offset: Number(offset), length: Number(length) });
      } finally {
        client.destroy();
      }
    },
    close: () => sql.end(),
  };
}

/**
 * That every URL of a job that has ended did so in one state, that its counts add up, and that the places of its
 * results are 1, 2, 3, … without a gap.
 * @returns how many URLs ended with which code, or in which state where they have none
 */
export async function expectBooksToBalance({ sql, instance }: Engine, jobId: string): Promise<Record<string, number>> {
  const urls = await sql<{ state: string; code: string | null; place: number | null; hash: string }[]>`
    select state, error_code as code, result_seq as place, encode(url_hash, 'hex') as hash
    from frontier where job_id = ${jobId}`;
  const codes: Record<string, number> = {};
  const states: Record<string, number> = { crawled: 0, failed: 0, skipped: 0 };
  for (const { state, code } of urls) {
    states[state] = (states[state] ?? 0) + 1;
    codes[code ?? state] = (codes[code ?? state] ?? 0) + 1;
  }
  expect(Object.keys(states).toSorted()).toEqual(["crawled", "failed", "skipped"]);
  expect(new Set(urls.map(({ hash }) => hash)).size).toBe(urls.length);
  const { counts } = await instance.call<{ counts: Record<string, number> }>("GET", `/api/v1/crawl/${jobId}?limit=1`);
  expect(counts).toMatchObject({ ...states, discovered: urls.length, open: 0 });
  const { crawled = 0, failed = 0, skipped = 0 } = counts;
  expect(crawled + failed + skipped).toBe(counts["discovered"]);
  const places = urls.flatMap(({ place }) => (place === null ? [] : [place])).toSorted((a, b) => a - b);
  expect(places).toEqual(places.map((_, index) => index + 1));
  return codes;
}

/** Whether the two are the same bytes, told shortly where they are not. */
export const digestOf = (bytes: Uint8Array | string): string => createHash("sha256").update(bytes).digest("hex");
