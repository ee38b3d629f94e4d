/** Routes whose last parameter is the rest of the path, however many slashes and questions it has. */
import type { APIGatewayProxyEvent } from "aws-lambda";
import type { StreamApi } from "../adapters/api/stream-api.ts";

/** The parameter as the router has it; the topology and OpenAPI have it as `{url+}`. */
export const REST = "{url{.+}}";
const documented = (path: string): string => path.replace(REST, "{url+}");

export function withRestOfPaths(api: StreamApi): StreamApi {
  return {
    ...api,
    routes: api.routes.map((route) => ({ ...route, path: documented(route.path) })),
    openApi() {
      const document = api.openApi();
      const paths = Object.entries(document.paths ?? {}).map(([path, item]) => [documented(path), item] as const);
      return { ...document, paths: Object.fromEntries(paths) };
    },
  };
}

type Event = APIGatewayProxyEvent | undefined;

/**
 * Path and query as they may have been asked for, most likely first: the gateway has decoded the query, so that blanks
 * may have been `+`, and a parameter without a value may have had no `=`.
 */
export function targetsOf(event: Event): string[] {
  const query = Object.entries(event?.multiValueQueryStringParameters ?? {}).flatMap(([name, values]) =>
    (values ?? []).map((value) => `${encoded(name)}=${encoded(value)}`),
  );
  const path = event?.path ?? "/";
  if (query.length === 0) return [path];
  const plain = query.join("&");
  const bare = plain.replaceAll(/=(?=&|$)/g, "");
  const spellings = [plain, bare].flatMap((text) => [text, text.replaceAll("%20", "+")]);
  return [...new Set(spellings)].map((text) => `${path}?${text}`);
}

const encoded = (text: string): string =>
  encodeURIComponent(text).replaceAll(/%(2F|3A|3F|40|2C|3B|24)/g, decodeURIComponent);
