/**
 * Puts the OpenAPI document together from the routes of every API function. A test compares; after a change of the API:
 * `npx node checks/openapi.ts`.
 */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Api } from "../functions/adapters/api/api.ts";
import { TOPOLOGY } from "../infra/topology.ts";

export const OPENAPI_FILE = join(import.meta.dirname, "../docs/openapi.json");

/** The whole document as JSON text, with the paths in the topology's order. */
export async function openApiDocument(): Promise<string> {
  const names = TOPOLOGY.functions.filter(({ routes }) => routes !== undefined).map(({ name }) => name);
  const documents = await Promise.all(
    names.map(async (name) => {
      const { api } = (await import(`../functions/${name}/handler.ts`)) as { api: Pick<Api, "openApi"> };
      return api.openApi();
    }),
  );
  const [first] = documents;
  const paths = Object.assign({}, ...documents.map((each) => each.paths));
  const schemas = Object.assign({}, ...documents.map((each) => each.components?.schemas));
  const headers = Object.assign({}, ...documents.map((each) => each.components?.headers));
  const securitySchemes = Object.assign({}, ...documents.map((each) => each.components?.securitySchemes));
  return `${JSON.stringify({ ...first, paths, components: { schemas, headers, securitySchemes } }, null, 2)}\n`;
}

if (import.meta.main) await writeFile(OPENAPI_FILE, await openApiDocument());
