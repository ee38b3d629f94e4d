/** Reads the schemas of the requests that forms of the console are made of from the OpenAPI document. */

const FORMS = {
  deep: "/api/v1/crawl/deep",
  pages: "/api/v1/crawl",
  batch: "/api/v1/crawl/batch",
  spider: "/spider/crawl",
  scrape: "/api/v1/scrape",
  source: "/api/v1/sources",
  proxy: "/api/v1/proxies",
  config: "/api/v1/configs",
} as const;

interface Document {
  components?: { schemas?: Record<string, unknown> };
  paths: Record<string, { post?: { requestBody?: { content: Record<string, { schema: unknown }> } } } | undefined>;
}

/**
 * Gives the JSON schema of each form's request body.
 * @param document the OpenAPI document, as text
 * @throws Error where the document lacks one of the requests
 */
export function requestSchemas(document: string): Record<string, unknown> {
  const { paths, components } = JSON.parse(document) as Document;
  return Object.fromEntries(
    Object.entries(FORMS).map(([form, path]) => {
      const schema = paths[path]?.post?.requestBody?.content["application/json"]?.schema;
      if (schema === undefined) throw new Error(`The OpenAPI document has no request body of POST ${path}`);
      return [form, resolved(schema, components?.schemas ?? {})];
    }),
  );
}

const REFERENCE = "#/components/schemas/";

type Schema = Record<string, unknown>;

/** With what it refers to in place of the references, and of a choice between one thing and null that thing alone. */
function resolved(schema: unknown, schemas: Readonly<Record<string, unknown>>): unknown {
  if (Array.isArray(schema)) return schema.map((each) => resolved(each, schemas));
  if (typeof schema !== "object" || schema === null) return schema;
  const { $ref, ...rest } = schema as Schema;
  const { allOf, anyOf, ...own } = Object.fromEntries(
    Object.entries(rest).map(([name, value]) => [name, resolved(value, schemas)]),
  );
  const all = onlyOne(allOf);
  const any = onlyOne(anyOf);
  return {
    ...(typeof $ref === "string" ? referred($ref, schemas) : {}),
    ...(all ?? (allOf === undefined ? {} : { allOf })),
    ...(any ?? (anyOf === undefined ? {} : { anyOf })),
    ...own,
  };
}

function referred($ref: string, schemas: Readonly<Record<string, unknown>>): Schema {
  const schema = schemas[$ref.slice(REFERENCE.length)];
  if (schema === undefined) throw new Error(`The OpenAPI document has no ${$ref}`);
  return resolved(schema, schemas) as Schema;
}

/** The one schema of a list that is not that of null; undefined where there are several. */
function onlyOne(schemas: unknown): Schema | undefined {
  if (!Array.isArray(schemas)) return undefined;
  const [one, ...others] = (schemas as Schema[]).filter(({ type }) => type !== "null");
  return others.length === 0 ? one : undefined;
}
