import { expect, it } from "vitest";
import { readDocument } from "../../services/documented-answers.ts";

/** Routes that start nothing that a second request would start again, and why. */
const STARTS_NOTHING: Readonly<Record<string, string>> = {
  "POST /api/v1/crawl/{job_id}/cancel": "a job ends once",
  "POST /api/v1/jobs/{job_id}/retry": "what is not failed any more is not tried again",
  "POST /api/v1/discover/score": "answers from what it is sent",
  "POST /api/v1/screenshot": "the answer is all that it makes",
  "POST /api/v1/pdf": "the answer is all that it makes",
  "POST /api/v1/execute-js": "the answer is all that it makes",
  "POST /api/v1/search": "reads",
  "POST /api/v1/search/vector": "reads",
  "POST /api/v1/search/keyword": "reads",
  "POST /api/v1/context": "reads",
  "POST /mcp": "the protocol has ids of its own",
  "POST /api/v1/webhooks": "makes a row, whose secret no answer but one shows",
  "POST /api/v1/webhooks/{webhook_id}/rotate": "makes a secret, which no answer but one shows",
  "POST /api/v1/webhooks/{webhook_id}/test": "a receiver knows a delivery by its id",
  "POST /api/v1/webhooks/{webhook_id}/deliveries/{delivery_id}/redeliver": "a receiver knows a delivery by its id",
  "POST /api/v1/documents": "a document is known by its URL and content",
  "POST /api/v1/documents/uploads": "makes a link",
  "POST /api/v1/documents/batch": "a document is known by its URL and content",
  "POST /api/v1/documents/delete": "what is deleted stays so",
  "POST /api/v1/documents/{document_id}/restore": "what is restored stays so",
  "POST /api/v1/documents/{document_id}/reindex": "marks what is to be embedded",
  "POST /api/v1/documents/{document_id}/tags": "a document has a tag once",
  "POST /api/v1/documents/tags": "a document has a tag once",
  "POST /api/v1/documents/export": "the answer is all that it makes",
  "POST /api/v1/documents/import": "a document is known by its URL and content",
  "POST /api/v1/collections": "a name is taken once",
  "POST /api/v1/collections/{collection_id}/documents": "a document is in a collection once",
  "POST /api/v1/collections/{collection_id}/documents/remove": "what is removed stays so",
  "POST /api/v1/collections/{collection_id}/reindex": "marks what is to be embedded",
  "POST /api/v1/tags": "a name is taken once",
  "POST /api/v1/documents/reconcile": "what is repaired stays so",
  "POST /api/v1/documents/chunk-sizes": "what is under way or serves stays so",
  "POST /api/v1/embedding-models": "what is paused or serves stays so",
  "POST /api/v1/generations/{generation_id}/activate": "what is active stays so",
  "POST /api/admin/exclusions": "makes a row",
  "POST /api/admin/sources": "a source is known by its code",
  "POST /api/admin/jobs/validate-config": "makes nothing",
  "POST /api/admin/jobs/{id}/retry": "what runs is refused",
  "POST /api/admin/jobs/{id}/index": "what is being indexed is refused",
  "POST /api/admin/jobs/{id}/cleanup": "what is gone stays so",
  "POST /api/admin/changes/compute": "marks what is to be compared",
  "POST /api/reports": "asked without a key",
  "POST /api/v1/api-keys": "makes a secret, which no answer but one shows",
  "POST /api/v1/configs": "makes a row",
  "POST /api/v1/domains/{domain}/block": "what is blocked stays so",
  "POST /api/v1/domains/{domain}/unblock": "what is free stays so",
  "POST /api/v1/domains/{domain}/reset": "what is reset stays so",
  "POST /api/v1/proxies": "makes a row",
  "POST /api/v1/proxies/test": "the answer is all that it makes",
};

const posts = Object.entries(readDocument().paths).flatMap(([path, { post }]) =>
  post === undefined ? [] : [{ name: `POST ${path}`, keyed: JSON.stringify(post).includes('"Idempotency-Key"') }],
);

it.each(posts)("$name takes an Idempotency-Key, or is known to start nothing", ({ name, keyed }) => {
  expect(keyed).toBe(STARTS_NOTHING[name] === undefined);
});

it("knows no route that is not there", () => {
  expect(posts.map(({ name }) => name)).toEqual(expect.arrayContaining(Object.keys(STARTS_NOTHING)));
});
