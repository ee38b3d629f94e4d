/** Reads the schemas of the requests that forms of the console are made of from the OpenAPI document. */

const FORMS = {
  deep: "/api/v1/crawl/deep",
  pages: "/api/v1/crawl",
  batch: "/api/v1/crawl/batch",
  spider: "/spider/crawl",
  scrape: "/api/v1/scrape",
} as const;

interface Document {
  paths: Record<string, { post?: { requestBody?: { content: Record<string, { schema: unknown }> } } } | undefined>;
}

/**
 * Gives the JSON schema of each form's request body.
 * @param document the OpenAPI document, as text
 * @throws Error where the document lacks one of the requests
 */
export function requestSchemas(document: string): Record<string, unknown> {
  const { paths } = JSON.parse(document) as Document;
  return Object.fromEntries(
    Object.entries(FORMS).map(([form, path]) => {
      const schema = paths[path]?.post?.requestBody?.content["application/json"]?.schema;
      if (schema === undefined) throw new Error(`The OpenAPI document has no request body of POST ${path}`);
      return [form, schema];
    }),
  );
}
