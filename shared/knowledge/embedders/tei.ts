/**
 * Text Embeddings Inference over HTTP: `POST /embed {inputs, truncate, normalize}` answers one array of numbers per
 * input; 429 means overloaded, 413 and 422 an input or batch it refuses, 424 a failed inference.
 * https://huggingface.github.io/text-embeddings-inference/
 */
import { z } from "zod";
import { PermanentError, RetryableError, ThrottledError } from "../../platform/errors.ts";
import { callJson, type JsonCall, type JsonReply, jsonIfAny } from "../../platform/json-client.ts";
import type { Embedder, EmbedderDescriptor } from "./embedder.ts";

export interface TeiOptions {
  url: string;
  descriptor: EmbedderDescriptor;
  timeoutMs: number;
  /** Texts per request; the server's own limit (`--max-client-batch-size`) is 32 unless raised. */
  batchSize: number;
}

const answerSchema = z.array(z.array(z.number().nullable()));
/** The retrieval instruction of the Qwen3-Embedding model card; documents carry none. */
const QWEN3_QUERY = "Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery:";

export function createTeiEmbedder({ url, descriptor, timeoutMs, batchSize }: TeiOptions): Embedder {
  const base = url.replace(/\/+$/, "");
  const queryPrefix = /qwen3.*embedding/i.test(descriptor.model) ? QWEN3_QUERY : "";

  async function embedBatch(inputs: readonly string[]): Promise<Float32Array[]> {
    const body = { inputs, truncate: true, normalize: true };
    const reply = await reach({ method: "POST", url: new URL(`${base}/embed`), body, timeoutMs });
    const parsed = answerSchema.safeParse(jsonIfAny(reply));
    if (!parsed.success || parsed.data.length !== inputs.length) {
      throw new RetryableError(`The embedding server's answer is not ${inputs.length} arrays of numbers`, {
        code: "EMBEDDER_ANSWER_INVALID",
      });
    }
    // JSON has no NaN: serde writes null for it, and validation then names the faulty position
    return parsed.data.map((vector) => Float32Array.from(vector, (value) => value ?? Number.NaN));
  }

  return {
    descriptor,
    async embedDocuments(texts) {
      const vectors: Float32Array[] = [];
      for (let start = 0; start < texts.length; start += batchSize) {
        vectors.push(...(await embedBatch(texts.slice(start, start + batchSize))));
      }
      return vectors;
    },
    async embedQuery(text) {
      const [vector] = await embedBatch([queryPrefix + text]);
      if (vector === undefined) throw new Error("The embedding server gave no vector for one text");
      return vector;
    },
    async check(signal) {
      await reach({ method: "GET", url: new URL(`${base}/health`), timeoutMs, signal });
    },
  };
}

/** @returns a reply with a status of success */
async function reach(call: JsonCall): Promise<JsonReply> {
  const reply = await callJson(call).catch((cause: unknown) => {
    throw new RetryableError("The embedding server did not answer: check TEI__URL and that it runs", {
      code: "EMBEDDER_UNAVAILABLE",
      cause,
    });
  });
  if (reply.status < 200 || reply.status > 299) throw refusal(reply);
  return reply;
}

/** Only a refused input is final; everything else passes. */
function refusal(reply: JsonReply): RetryableError | PermanentError {
  const { status, headers } = reply;
  const body = jsonIfAny(reply);
  const reason = typeof body === "object" && body !== null && "error" in body ? `: ${String(body.error)}` : "";
  const message = `The embedding server answered ${status}${reason}`;
  if (status === 413 || status === 422 || status === 400) {
    return new PermanentError(`${message}. If its batch limit is below TEI__BATCH_SIZE, lower that`, {
      code: "EMBEDDER_REFUSED",
    });
  }
  const retryAfterS = Number(headers["retry-after"] ?? Number.NaN);
  if (status === 429 && retryAfterS > 0) {
    return new ThrottledError(message, { code: "EMBEDDER_BUSY", retryAfterMs: retryAfterS * 1000 });
  }
  return new RetryableError(message, { code: status === 429 ? "EMBEDDER_BUSY" : "EMBEDDER_UNAVAILABLE" });
}
