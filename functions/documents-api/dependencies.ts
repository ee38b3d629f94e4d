/** What the routes of documents, collections and tags work with. */
import { embedderDescriptor } from "../../shared/knowledge/embedders/registry.ts";
import { createVectorStore } from "../../shared/knowledge/vector-stores/registry.ts";
import type { LibraryDependencies } from "../../shared/library/change-documents.ts";
import { once, onceMade } from "../../shared/platform/once.ts";
import { createJobContainer, type JobContainer } from "../adapters/api/container.ts";

export interface DocumentsApi extends JobContainer, Pick<LibraryDependencies, "vectors"> {
  /** Tokens that the embedder reads; null where there is none. */
  maxTokens: number | null;
}

export const documentsApi = once((): DocumentsApi => {
  const container = createJobContainer("documents-api");
  const { config } = container;
  const descriptor = embedderDescriptor(config);
  return {
    ...container,
    vectors: onceMade(async () => (descriptor === null ? null : await createVectorStore(config, descriptor))),
    maxTokens: descriptor?.maxTokens ?? null,
  };
});
