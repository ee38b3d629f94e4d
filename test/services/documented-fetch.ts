/**
 * For `setupFiles`: what `fetch` gets from the API of a runtime is held against the OpenAPI document. Bodies are, once
 * the test reads them.
 */
import { type Answered, checkHead, operationOf, recordChecks } from "./documented-answers.ts";

const plainFetch = globalThis.fetch;

globalThis.fetch = async (input, init) => {
  const response = await plainFetch(input, init);
  const url = new URL(input instanceof Request ? input.url : input);
  const method = init?.method ?? (input instanceof Request ? input.method : "GET");
  const operation = operationOf({ method, path: url.pathname });
  // sites and doubles of tests may have such a path, too
  if (operation === undefined || !response.headers.has("x-request-id")) return response;
  const answered: Answered = { status: response.status, headers: new Map(response.headers) };
  const body = typeof init?.body === "string" ? init.body : undefined;
  const check = checkHead(operation, { method, path: url.pathname, body }, answered);
  recordChecks.set(response, check);
  if (method === "HEAD" || !/^application\/json\b/.test(response.headers.get("content-type") ?? "")) return response;
  const readText = response.text.bind(response);
  const text = async (): Promise<string> => {
    const read = await readText();
    check(JSON.parse(read));
    return read;
  };
  return Object.assign(response, { text, json: async () => JSON.parse(await text()) as unknown });
};
