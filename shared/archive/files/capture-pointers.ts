/** The captures that point at a WARC object. */
import type { Queryable } from "../../platform/database/database.ts";

export interface PlacedCapture {
  id: number;
  offset: number;
  length: number;
  /** 0: the record begins its member. */
  inner: number;
  /** Null: gzip. */
  coding: string | null;
  recordId: string;
}

const AT_ONCE = 5000;

/** In the order of their places; the records of rendered pages' DOMs among them. */
export async function* capturePointers(sql: Queryable, key: string): AsyncGenerator<PlacedCapture> {
  const columns = sql`id, warc_offset as "offset", warc_length as "length", coalesce(warc_inner, 0) as "inner",
    warc_coding as coding, warc_record_id as "recordId"`;
  const dom = sql`id, (rendered->'warc'->>'offset')::bigint as "offset", (rendered->'warc'->>'length')::bigint as "length",
    0::bigint as "inner", null as coding, rendered->'warc'->>'recordId' as "recordId"`;
  const sources = [
    sql`select ${columns} from captures where warc_key = ${key} and reused_from is null`,
    sql`select ${columns} from captures where warc_key = ${key} and reused_from is not null`,
    sql`select ${dom} from captures where rendered->'warc'->>'key' = ${key}`,
  ];
  for (let after = { offset: -1, inner: 0, id: 0 }; ; ) {
    const [own, reused, doms] = sources.map(
      (source) => sql`(
        select * from (${source}) placed
        where "offset" >= ${after.offset} and ("offset", "inner", id) > (${after.offset}, ${after.inner}, ${after.id})
        order by "offset", "inner", id limit ${AT_ONCE})`,
    ) as [ReturnType<Queryable>, ReturnType<Queryable>, ReturnType<Queryable>];
    const rows = await sql<PlacedCapture[]>`
      ${own} union all ${reused} union all ${doms} order by "offset", "inner", id limit ${AT_ONCE}`;
    yield* rows;
    const last = rows.at(-1);
    if (last === undefined || rows.length < AT_ONCE) return;
    after = last;
  }
}
