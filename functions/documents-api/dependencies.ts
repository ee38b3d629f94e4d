/** What the routes of documents, collections and tags work with. */
import { embedderDescriptor } from "../../shared/knowledge/embedders/registry.ts";
import { createVectorStore } from "../../shared/knowledge/vector-stores/registry.ts";
import type { LibraryDependencies } from "../../shared/library/change-documents.ts";
import { s3Client } from "../../shared/platform/aws/clients.ts";
import { createLinkMaker, type LinkMaker } from "../../shared/platform/aws/presigned.ts";
import { createUploads, type Uploads } from "../../shared/platform/aws/uploads.ts";
import { once, onceMade } from "../../shared/platform/once.ts";
import { createJobContainer, type JobContainer } from "../adapters/api/container.ts";

export interface DocumentsApi extends JobContainer, Pick<LibraryDependencies, "vectors"> {
  /** Tokens that the embedder reads; null where there is none. */
  maxTokens: number | null;
  uploads: Uploads;
  links: Pick<LinkMaker, "uploadTo">;
}

/** Seconds for which an upload may begin. */
const UPLOAD_LIFETIME_S = 3600;

export const documentsApi = once((): DocumentsApi => {
  const container = createJobContainer("documents-api");
  const { config } = container;
  const descriptor = embedderDescriptor(config);
  const s3 = s3Client();
  return {
    ...container,
    vectors: onceMade(async () => (descriptor === null ? null : await createVectorStore(config, descriptor))),
    maxTokens: descriptor?.maxTokens ?? null,
    uploads: createUploads(s3, config.bucket),
    links: createLinkMaker(s3, config.bucket, UPLOAD_LIFETIME_S),
  };
});
