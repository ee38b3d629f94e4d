import { describe, expect, it, onTestFinished } from "vitest";
import { createUrlGuard } from "../../../shared/access/url-guard.ts";
import type { LlmSettings } from "../../../shared/harvest/llm/dialect.ts";
import { askModel, LlmFailed } from "../../../shared/harvest/llm/rewriter.ts";
import { chatCompletion, type ProviderDouble, providerDouble } from "../../services/provider-doubles.ts";

const ASK = { prompt: "Rewrite.", query: "news", apiKey: "secret" };

async function double(answer: ProviderDouble["answer"]): Promise<ProviderDouble> {
  const made = await providerDouble(answer);
  onTestFinished(() => made.close());
  return made;
}

function ask(settings: Partial<LlmSettings>, question = ASK, allowHosts = ["127.0.0.1"]): Promise<string> {
  const client = createUrlGuard({ allowHosts }).dispatcher();
  onTestFinished(() => client.destroy());
  const whole = {
    provider: "openai",
    model: "m-1",
    endpoint: null,
    temperature: 0,
    maxTokens: 512,
    timeoutMs: 30_000,
  } as const;
  return askModel(client, { ...whole, ...settings }, question);
}

describe("each provider is asked as it documents", () => {
  it("anthropic", async () => {
    const server = await double(() => ({
      body: { type: "message", role: "assistant", content: [{ type: "text", text: "{}" }], stop_reason: "end_turn" },
    }));
    expect(await ask({ provider: "anthropic", endpoint: `${server.url}/v1/messages` })).toBe("{}");
    const [request] = server.asked;
    expect(request?.headers).toMatchObject({ "x-api-key": "secret", "anthropic-version": "2023-06-01" });
    expect(request?.body).toEqual({
      model: "m-1",
      temperature: 0,
      max_tokens: 512,
      system: "Rewrite.",
      messages: [{ role: "user", content: "news" }],
    });
  });

  it("gemini", async () => {
    const server = await double(() => ({
      body: {
        candidates: [{ content: { role: "model", parts: [{ text: "{" }, { text: "}" }] }, finishReason: "STOP" }],
      },
    }));
    expect(await ask({ provider: "gemini", endpoint: `${server.url}/v1beta` })).toBe("{}");
    const [request] = server.asked;
    expect(request?.url.pathname).toBe("/v1beta/models/m-1:generateContent");
    expect(request?.url.search).toBe("");
    expect(request?.headers["x-goog-api-key"]).toBe("secret");
    expect(request?.body).toEqual({
      systemInstruction: { parts: [{ text: "Rewrite." }] },
      contents: [{ role: "user", parts: [{ text: "news" }] }],
      generationConfig: { temperature: 0, maxOutputTokens: 512, responseMimeType: "application/json" },
    });
  });

  it.each(["/v1beta", "/v1beta/", "/v1beta/models/m-1:generateContent"])(
    "gemini at %s, the base of its addresses or the whole of one",
    async (path) => {
      const server = await double(() => ({ body: { candidates: [{ content: { parts: [{ text: "{}" }] } }] } }));
      expect(await ask({ provider: "gemini", endpoint: server.url + path })).toBe("{}");
      expect(server.asked[0]?.url.pathname).toBe("/v1beta/models/m-1:generateContent");
    },
  );

  it("a local server that speaks OpenAI's dialect, without a key", async () => {
    const server = await double(() => chatCompletion("{}"));
    const endpoint = `${server.url}/v1/chat/completions`;
    const asked = { ...ASK, apiKey: null as never };
    expect(await ask({ provider: "local", endpoint }, asked)).toBe("{}");
    expect(server.asked[0]?.headers["authorization"]).toBeUndefined();
  });
});

describe("what cannot be used is a failure", () => {
  const stops = [
    ["openai", chatCompletion("{", "length")],
    ["anthropic", { body: { content: [{ type: "text", text: "{" }], stop_reason: "max_tokens" } }],
    ["gemini", { body: { candidates: [{ content: { parts: [{ text: "{" }] }, finishReason: "MAX_TOKENS" }] } }],
  ] as const;
  it.each(stops)("an answer of %s that was cut off", async (provider, reply) => {
    const server = await double(() => reply);
    await expect(ask({ provider, endpoint: server.url })).rejects.toThrow(/cut off at 512 tokens/);
  });

  const refused = (message: object, finish_reason = "stop") => ({ choices: [{ message, finish_reason }] });
  const candidate = (finishReason: string) => ({
    candidates: [{ content: { parts: [{ text: '{"keywords":["a"]}' }] }, finishReason }],
  });
  const text = '{"keywords":["a"]}';
  const answered = [{ type: "text", text }];
  it.each<[string, LlmSettings["provider"], object, string]>([
    ["a refusal", "openai", refused({ content: null, refusal: "I cannot do that" }), "the model refused"],
    ["a refusal with text", "openai", refused({ content: text, refusal: "I cannot" }), "the model refused"],
    ["filtered text", "openai", refused({ content: text }, "content_filter"), "the model stopped: content_filter"],
    [
      "a call of a tool",
      "openai",
      refused({ content: null, tool_calls: [{}] }, "tool_calls"),
      "the model stopped: tool_calls",
    ],
    ["no text", "local", refused({ content: null }), "the model wrote nothing"],
    ["a refusal", "anthropic", { content: answered, stop_reason: "refusal" }, "the model refused"],
    [
      "a call of a tool",
      "anthropic",
      { content: [{ type: "tool_use", text: null }], stop_reason: "tool_use" },
      "the model stopped: tool_use",
    ],
    ["a pause", "anthropic", { content: answered, stop_reason: "pause_turn" }, "the model stopped: pause_turn"],
    [
      "a window that is full",
      "anthropic",
      { content: answered, stop_reason: "model_context_window_exceeded" },
      "the answer was cut off at 512 tokens",
    ],
    ["no block", "anthropic", { content: [], stop_reason: "end_turn" }, "the model wrote nothing"],
    ["a blocked question", "gemini", { promptFeedback: { blockReason: "SAFETY" } }, "the model refused: SAFETY"],
    ["blocked text", "gemini", candidate("SAFETY"), "the model stopped: SAFETY"],
    ["recited text", "gemini", candidate("RECITATION"), "the model stopped: RECITATION"],
    ["a reason that is none", "gemini", candidate("<b> and more"), "the model stopped"],
    [
      "no parts",
      "gemini",
      { candidates: [{ content: { role: "model" }, finishReason: "STOP" }] },
      "the model wrote nothing",
    ],
    [
      "no content",
      "gemini",
      { candidates: [{ finishReason: "PROHIBITED_CONTENT" }] },
      "the model stopped: PROHIBITED_CONTENT",
    ],
  ])("%s of %s: it is told as one", async (_what, provider, body, reason) => {
    const server = await double(() => ({ body }));
    await expect(ask({ provider, endpoint: server.url })).rejects.toThrow(new LlmFailed(reason));
  });

  it("an empty text is what the model wrote, and for the schema to refuse", async () => {
    const server = await double(() => chatCompletion(""));
    expect(await ask({ endpoint: server.url })).toBe("");
  });

  it.each<[LlmSettings["provider"], number, object, RegExp]>([
    [
      "gemini",
      400,
      { error: { status: "INVALID_ARGUMENT", details: [{ reason: "API_KEY_INVALID" }] } },
      /^auth: .*400$/,
    ],
    ["gemini", 429, { error: { status: "RESOURCE_EXHAUSTED" } }, /^quota: .*429$/],
    ["openai", 429, { error: { code: "insufficient_quota" } }, /^quota: .*429$/],
    ["anthropic", 402, { type: "error", error: { type: "billing_error" } }, /^quota: .*402$/],
    ["anthropic", 400, { type: "error", error: { type: "invalid_request_error" } }, /^the provider answered 400$/],
    ["anthropic", 529, { type: "error", error: { type: "overloaded_error" } }, /^the provider answered 529$/],
  ])("a refusal of %s with %i", async (provider, status, body, reason) => {
    const server = await double(() => ({ status, body }));
    await expect(ask({ provider, endpoint: server.url })).rejects.toThrow(reason);
  });

  it.each([
    ["no choices", { choices: [] }],
    ["an error with status 200", { error: { message: "sk-secret is no key" } }],
    ["another document", { hello: "world" }],
  ])("%s", async (_what, body) => {
    const server = await double(() => ({ body }));
    await expect(ask({ endpoint: server.url })).rejects.toThrow(new LlmFailed("the answer has an unknown shape"));
  });

  it.each([
    [401, /^auth/],
    [403, /^auth/],
    [429, /^quota/],
    [500, /500/],
    [302, /302/],
  ])("status %i", async (status, reason) => {
    const server = await double(() => ({ status, headers: { location: "/elsewhere" } }));
    await expect(ask({ endpoint: server.url })).rejects.toThrow(reason);
    expect(server.asked).toHaveLength(1);
  });

  it("HTML, silence, and a host that the URL guard refuses", async () => {
    const html = await double(() => ({ body: "<html>" }));
    await expect(ask({ endpoint: html.url })).rejects.toThrow(/HTML instead of JSON/);
    const slow = await double(() => ({ ...chatCompletion("{}"), delayMs: 2000 }));
    await expect(ask({ endpoint: slow.url, timeoutMs: 200 })).rejects.toThrow("timeout after 0.2s");
    await expect(ask({ endpoint: "http://127.0.0.1:1/" })).rejects.toThrow(/unreachable/);
    await expect(ask({ endpoint: html.url }, ASK, [])).rejects.toThrow(/URL guard/);
    expect(html.asked).toHaveLength(1);
  });
});
