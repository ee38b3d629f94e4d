/** The extraction API with a crawl whose pages a table answers. */
import { expect } from "vitest";
import type { StreamApi } from "../../../../functions/adapters/api/stream-api.ts";
import { api as extractApi } from "../../../../functions/extract-api/handler.ts";
import { createApiKey } from "../../../../shared/access/api-keys.ts";
import { callApi, type TestAnswer } from "../../../services/api.ts";
import { type ResultsSetup, resultsSetup, type Sent } from "../results-api/results-setup.ts";

export interface ExtractSetup extends ResultsSetup {
  key: string;
  /**
   * Posts the body while the server answers what is fetched.
   * @returns the answer, and every URL that was fetched
   */
  post(
    path: string,
    json: object,
    server: Server,
    headers?: Record<string, string>,
  ): Promise<TestAnswer & { asked: string[] }>;
  /**
   * Waits until the URL has a capture.
   * @returns the job that it is of
   */
  onceCaptured(url: string): Promise<string>;
}
/** By URL; `undefined` never answers. */
type Server = (url: string) => Sent | undefined;

/**
 * For `beforeAll`: the handler keeps its dependencies for the whole file.
 * @param api whose routes are asked
 */
export async function extractSetup(api: StreamApi = extractApi): Promise<ExtractSetup> {
  const setup = await resultsSetup({ sqs: true });
  Object.assign(process.env, setup.aws.env, { DATABASE__POSTGRES_URL: setup.databaseUrl, LOG_LEVEL: "error" });
  const options = { name: "test", scopes: ["write" as const], rateLimitRpm: 100_000, expiresAt: null };
  const { key } = await createApiKey(setup.sql, options);
  return {
    ...setup,
    key,
    async post(path, json, server, headers = {}) {
      const done = new AbortController();
      const answering = setup.answer(server, done.signal);
      const answer = await callApi(api, { path, json, key, headers }).finally(() => done.abort());
      return { ...answer, asked: await answering };
    },
    async onceCaptured(url) {
      const captures = () => setup.sql<{ id: string }[]>`select job_id as id from captures where url = ${url}`;
      await expect.poll(captures).toHaveLength(1);
      return (await captures())[0]?.id ?? "";
    },
  };
}

export const notFound: Sent = {
  body: "",
  status: 404,
  error: { code: "HTTP_404", message: "The server answered 404", retryable: false },
};
