/**
 * Local servers that answer as search and model providers document it; what each is to answer can be changed at any
 * time.
 */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as delay } from "node:timers/promises";

export interface AskedProvider {
  method: string;
  /** With its query. */
  url: URL;
  headers: Record<string, string | string[] | undefined>;
  // requests are compared, never trusted
  // biome-ignore lint/suspicious/noExplicitAny: every provider has another shape
  body: any;
}

export interface ProviderReply {
  status?: number;
  headers?: Record<string, string>;
  /** Sent as JSON, unless it is a string. */
  body?: unknown;
  /** Before the answer, in ms. */
  delayMs?: number;
}

export interface ProviderDouble {
  url: string;
  asked: AskedProvider[];
  /** What it answers from now on. */
  answer: (request: AskedProvider) => ProviderReply;
  close(): void;
}

export async function providerDouble(answer: ProviderDouble["answer"]): Promise<ProviderDouble> {
  const server = createServer(async (request, response) => {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece);
    const text = Buffer.concat(pieces).toString();
    const asked: AskedProvider = {
      method: request.method ?? "",
      url: new URL(request.url ?? "/", double.url),
      headers: request.headers,
      body: text === "" ? undefined : JSON.parse(text),
    };
    double.asked.push(asked);
    const { status = 200, headers = {}, body = {}, delayMs = 0 } = double.answer(asked);
    if (delayMs > 0) await delay(delayMs);
    response.writeHead(status, { "content-type": "application/json", ...headers });
    response.end(typeof body === "string" ? body : JSON.stringify(body));
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const double: ProviderDouble = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked: [],
    answer,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
  return double;
}

/** A chat completion of OpenAI whose text is `content`. */
export const chatCompletion = (content: string, finish_reason = "stop"): ProviderReply => ({
  body: {
    id: "chatcmpl-1",
    object: "chat.completion",
    created: 1,
    model: "test-model",
    choices: [{ index: 0, message: { role: "assistant", content, refusal: null }, finish_reason }],
    usage: { prompt_tokens: 200, completion_tokens: 40, total_tokens: 240 },
  },
});

/** The results that each provider wraps in its own way. */
export const RESULTS = {
  serper: (...urls: string[]): ProviderReply => ({
    body: {
      searchParameters: { q: "", type: "search", engine: "google" },
      organic: urls.map((link, index) => ({ title: link, link, snippet: "…", position: index + 1 })),
      credits: 1,
    },
  }),
  google: (...urls: string[]): ProviderReply => ({
    body: {
      kind: "customsearch#search",
      queries: { request: [{ totalResults: String(urls.length), count: urls.length, startIndex: 1 }] },
      searchInformation: { totalResults: String(urls.length) },
      // no results: no items
      ...(urls.length > 0 && { items: urls.map((link) => ({ kind: "customsearch#result", title: link, link })) }),
    },
  }),
  brave: (...urls: string[]): ProviderReply => ({
    body: {
      type: "search",
      query: { original: "", more_results_available: false },
      web: { type: "search", results: urls.map((url) => ({ type: "search_result", title: url, url })) },
    },
  }),
  searxng: (...urls: string[]): ProviderReply => ({
    body: {
      query: "",
      number_of_results: 0,
      results: urls.map((url) => ({ url, title: url, engine: "x" })),
      answers: [],
    },
  }),
};
