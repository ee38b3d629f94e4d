/** What the routes of documents, collections and tags work with. */
import type { Caller } from "../../shared/access/authorize.ts";
import type { EmbedderDescriptor } from "../../shared/knowledge/embedders/embedder.ts";
import { embedderDescriptor } from "../../shared/knowledge/embedders/registry.ts";
import { createVectorStore } from "../../shared/knowledge/vector-stores/registry.ts";
import type { VectorStore } from "../../shared/knowledge/vector-stores/vector-store.ts";
import type { LibraryDependencies } from "../../shared/library/change-documents.ts";
import { s3Client } from "../../shared/platform/aws/clients.ts";
import { createObjectStore, type ObjectStore } from "../../shared/platform/aws/objects.ts";
import { createLinkMaker, type LinkMaker } from "../../shared/platform/aws/presigned.ts";
import { createUploads, type Uploads } from "../../shared/platform/aws/uploads.ts";
import { once, onceMade } from "../../shared/platform/once.ts";
import { createJobContainer, type JobContainer } from "../adapters/api/container.ts";

export interface DocumentsApi extends JobContainer {
  /** Resolves to null where embeddings are switched off. */
  vectors(): Promise<VectorStore | null>;
  /** Of the configured model; null where embeddings are switched off. */
  descriptor: EmbedderDescriptor | null;
  /** Tokens that the embedder reads; null where there is none. */
  maxTokens: number | null;
  uploads: Uploads;
  objects: ObjectStore;
  links: LinkMaker;
}

/** As whoever asks may use it: a key that is limited to collections reaches these. */
export function within(api: DocumentsApi, { collectionIds }: Caller): DocumentsApi & LibraryDependencies {
  return { ...api, limit: collectionIds };
}

/** Seconds for which an upload or a download may begin. */
const LINK_LIFETIME_S = 3600;

export const documentsApi = once((): DocumentsApi => {
  const container = createJobContainer("documents-api");
  const { config } = container;
  const descriptor = embedderDescriptor(config);
  const s3 = s3Client();
  return {
    ...container,
    vectors: onceMade(async () => (descriptor === null ? null : await createVectorStore(config, descriptor))),
    descriptor,
    maxTokens: descriptor?.maxTokens ?? null,
    uploads: createUploads(s3, config.bucket),
    objects: createObjectStore(s3, config.bucket),
    links: createLinkMaker(s3, config.bucket, LINK_LIFETIME_S),
  };
});
