/**
 * Stands in for a Qdrant server where no real one is to be had: the calls that the store makes, answered from memory as
 * Qdrant 1.19 documents them. It takes what the published types allow and no field besides, wants the key, and refuses
 * filters by fields without an index, as strict mode does.
 */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Schemas } from "@qdrant/js-client-rest";
import { z } from "zod";

export const QDRANT_VERSION = "1.19.0";

export interface QdrantServer {
  url: string;
  close(): void;
}

const id = z.uuid();
const field = z.strictObject({ key: z.string(), match: z.strictObject({ any: z.array(z.string()) }) });
const condition = z.union([
  field,
  z.strictObject({
    key: z.string(),
    range: z.strictObject({ gte: z.string().exactOptional(), lte: z.string().exactOptional() }),
  }),
  z.strictObject({ is_empty: z.strictObject({ key: z.string() }) }),
  z.strictObject({
    get should() {
      return z.array(condition);
    },
  }),
]);
const filter = z.strictObject({ must: z.array(condition) }) satisfies z.ZodType<Schemas["Filter"]>;
type Filter = z.output<typeof filter>;
type Condition = z.output<typeof condition>;
type Payload = Record<string, unknown>;

const SCHEMAS = {
  create: z.strictObject({
    vectors: z.strictObject({ size: z.int().min(1).max(65_536), distance: z.literal("Cosine"), on_disk: z.boolean() }),
    hnsw_config: z.strictObject({ m: z.int(), ef_construct: z.int().min(4), full_scan_threshold: z.int().min(10) }),
    quantization_config: z.strictObject({
      scalar: z.strictObject({
        type: z.literal("int8"),
        quantile: z.number().min(0.5).max(1),
        always_ram: z.boolean(),
      }),
    }),
  }) satisfies z.ZodType<Schemas["CreateCollection"]>,
  index: z.strictObject({
    field_name: z.string(),
    field_schema: z.enum(["uuid", "keyword", "datetime"]),
  }) satisfies z.ZodType<Schemas["CreateFieldIndex"]>,
  upsert: z.strictObject({
    points: z.array(z.strictObject({ id, vector: z.array(z.number()), payload: z.record(z.string(), z.unknown()) })),
  }) satisfies z.ZodType<Schemas["PointsList"]>,
  remove: z.union([
    z.strictObject({ points: z.array(id) }) satisfies z.ZodType<Schemas["PointIdsList"]>,
    z.strictObject({ filter }) satisfies z.ZodType<Schemas["FilterSelector"]>,
  ]),
  read: z.strictObject({
    ids: z.array(id),
    with_vector: z.literal(true),
    with_payload: z.literal(false),
  }) satisfies z.ZodType<Schemas["PointRequest"]>,
  scroll: z.strictObject({
    limit: z.int().min(1),
    offset: id.exactOptional(),
    with_payload: z.array(z.string()),
  }) satisfies z.ZodType<Schemas["ScrollRequest"]>,
  query: z.strictObject({
    query: z.array(z.number()),
    limit: z.int().min(1),
    filter: filter.exactOptional(),
    params: z.strictObject({
      hnsw_ef: z.int().min(0),
      quantization: z.strictObject({ rescore: z.boolean() }),
    }) satisfies z.ZodType<Schemas["SearchParams"]>,
    with_payload: z.literal(false),
  }) satisfies z.ZodType<Schemas["QueryRequest"]>,
};

interface Collection {
  settings: z.output<typeof SCHEMAS.create>;
  indexes: Set<string>;
  points: Map<string, { id: string; vector: number[]; payload: Record<string, unknown> }>;
}

class Refused extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

export async function startQdrant(apiKey: string): Promise<QdrantServer> {
  const collections = new Map<string, Collection>();
  const server = createServer(async (request, response) => {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece as Buffer);
    const text = Buffer.concat(pieces).toString();
    const reply = (status: number, body: object) =>
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify({ ...body, time: 0.001 }));
    try {
      if (request.headers["api-key"] !== apiKey) throw new Refused(401, "Must provide an API key");
      const url = new URL(request.url ?? "/", "http://qdrant");
      const body: unknown = text === "" ? undefined : JSON.parse(text);
      const call = `${request.method} ${url.pathname.split("/").slice(3).join("/")}`.trim();
      const waits = url.searchParams.get("wait") === "true";
      reply(200, { result: answer(collections, url.pathname.split("/")[2] ?? "", call, body, waits), status: "ok" });
    } catch (error) {
      const refused = error instanceof Refused ? error : new Refused(400, `Format error in JSON body: ${error}`);
      reply(refused.status, { status: { error: refused.message } });
    }
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

function answer(
  collections: Map<string, Collection>,
  name: string,
  call: string,
  body: unknown,
  waits: boolean,
): unknown {
  const held = collections.get(name);
  if (call === "DELETE") return collections.delete(name);
  if (call === "PUT") {
    if (held !== undefined) throw new Refused(409, `Wrong input: Collection \`${name}\` already exists!`);
    collections.set(name, { settings: SCHEMAS.create.parse(body), indexes: new Set(), points: new Map() });
    return true;
  }
  if (held === undefined) throw new Refused(404, `Not found: Collection \`${name}\` doesn't exist!`);
  const { points, indexes, settings } = held;
  const fits = (vector: readonly number[]) => {
    const { size } = settings.vectors;
    if (vector.length === size) return;
    throw new Refused(400, `Wrong input: Vector dimension error: expected dim: ${size}, got ${vector.length}`);
  };
  if (call === "GET") return { status: "green", points_count: points.size, config: { params: settings } };
  if (call === "POST points/scroll") {
    const { limit, offset = "", with_payload } = SCHEMAS.scroll.parse(body);
    const from = [...points.values()].filter((point) => point.id >= offset).toSorted((a, b) => (a.id < b.id ? -1 : 1));
    const page = from.slice(0, limit).map((point) => ({ id: point.id, payload: pick(point.payload, with_payload) }));
    return { points: page, next_page_offset: from[limit]?.id ?? null };
  }
  if (call === "POST points") {
    const asked = SCHEMAS.read.parse(body).ids.flatMap((each) => points.get(each) ?? []);
    return asked.map((point) => ({ id: point.id, vector: point.vector, payload: null }));
  }
  if (call === "POST points/query") {
    const asked = SCHEMAS.query.parse(body);
    fits(asked.query);
    const matching = [...points].filter(([, { payload }]) => matches(indexes, asked.filter, payload));
    const scored = matching.map(([each, { vector }]) => ({ id: each, version: 1, score: cosine(vector, asked.query) }));
    return { points: scored.toSorted((a, b) => b.score - a.score).slice(0, asked.limit) };
  }
  // what is not waited for may be seen late
  if (!waits) throw new Refused(400, "This write is not waited for");
  if (call === "PUT index") indexes.add(SCHEMAS.index.parse(body).field_name);
  else if (call === "PUT points") {
    for (const point of SCHEMAS.upsert.parse(body).points) {
      fits(point.vector);
      points.set(point.id, point);
    }
  } else if (call === "POST points/delete") {
    const selector = SCHEMAS.remove.parse(body);
    const gone =
      "points" in selector
        ? selector.points
        : [...points].filter(([, { payload }]) => matches(indexes, selector.filter, payload)).map(([each]) => each);
    for (const each of gone) points.delete(each);
  } else throw new Refused(404, `No such call: ${call}`);
  return { operation_id: 1, status: "completed" };
}

function matches(indexes: ReadonlySet<string>, { must }: Filter = { must: [] }, payload: Payload): boolean {
  return must.every((each) => fulfils(indexes, each, payload));
}

function fulfils(indexes: ReadonlySet<string>, asked: Condition, payload: Payload): boolean {
  if ("should" in asked) return asked.should.some((each) => fulfils(indexes, each, payload));
  const key = "key" in asked ? asked.key : asked.is_empty.key;
  if (!indexes.has(key)) {
    throw new Refused(400, `Bad request: Index required but not found for "${key}". Help: Create an index`);
  }
  const values = [payload[key]].flat().filter((value) => value !== undefined && value !== null);
  if ("is_empty" in asked) return values.length === 0;
  // of a list one value is enough
  if ("match" in asked) return values.some((value) => asked.match.any.includes(String(value)));
  const { gte = "0000", lte = "9999" } = asked.range;
  return values.some(
    (value) => Date.parse(gte) <= Date.parse(String(value)) && Date.parse(String(value)) <= Date.parse(lte),
  );
}

function cosine(a: readonly number[], b: readonly number[]): number {
  const dot = a.reduce((sum, value, at) => sum + value * (b[at] ?? 0), 0);
  return dot / (Math.hypot(...a) * Math.hypot(...b));
}

/** As Qdrant does: fields that a point has not are left out. */
const pick = (payload: Record<string, unknown>, fields: readonly string[]): Record<string, unknown> =>
  Object.fromEntries(Object.entries(payload).filter(([name]) => fields.includes(name)));
