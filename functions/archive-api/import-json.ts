/** WARC imports as the API takes and shows them. */
import { z } from "zod";
import { sourceCodeSchema } from "../../shared/archive/editions/source.ts";
import type { ImportComplaint, ImportView } from "../../shared/archive/import/imports.ts";
import { incomingKeySchema } from "../adapters/archive/incoming-key.ts";

/** What S3 takes in one request. */
const LARGEST_UPLOAD = 5 * 1024 ** 3;

/** Code of the source that its captures belong to. */
const source = sourceCodeSchema.optional();

/** An object of the bucket, or a file that is going to be uploaded. */
export const newImportSchema = z.union(
  [
    z.strictObject({ key: incomingKeySchema, source }),
    z.strictObject({
      filename: z
        .string()
        .max(255)
        .regex(
          /^[\w.()+@ -]+\.(warc(\.gz|\.zst)?|arc(\.gz)?|wacz)$/,
          "must be a file name that ends in .warc, .warc.gz, .warc.zst, .arc, .arc.gz or .wacz",
        ),
      bytes: z.int().positive().max(LARGEST_UPLOAD, "is over 5 GiB: put it into the bucket in parts, and name its key"),
      sha256: z.string().regex(/^[0-9a-f]{64}$/, "must be 64 hexadecimal digits in lower case"),
      source,
    }),
  ],
  "takes the key of an object, or filename, bytes and sha256 of a file",
);

export const importSchema = z.object({
  id: z.uuid(),
  jobId: z.uuid().nullable(),
  key: z.string(),
  bytes: z.int().nullable(),
  sha256: z.string().nullable(),
  status: z.enum(["announced", "pending", "running", "completed", "failed"]),
  error: z.string().nullable(),
  indexedBytes: z.int(),
  records: z.record(z.string(), z.int()),
  captures: z.int(),
  openCaptures: z.int(),
  documents: z.int(),
  danglingRevisits: z.int(),
  signature: z
    .object({
      outcome: z.enum(["valid", "invalid", "untrusted", "unsigned"]),
      reason: z.string().nullable(),
      signer: z.string().nullable(),
      created: z.string().nullable(),
    })
    .nullable(),
  complaintCount: z.int(),
  createdAt: z.iso.datetime(),
  completedAt: z.iso.datetime().nullable(),
});

export const importWithComplaintsSchema = importSchema.extend({
  complaints: z.array(
    z.object({
      code: z.string(),
      message: z.string(),
      offset: z.int(),
      recordId: z.string().nullable(),
      url: z.string().nullable(),
    }),
  ),
});

export const uploadSchema = z.object({
  id: z.uuid(),
  key: z.string(),
  uploadUrl: z.url(),
  method: z.literal("PUT"),
  headers: z.record(z.string(), z.string()),
  expiresAt: z.iso.datetime(),
});

export function importJson({ complaints, createdAt, completedAt, ...view }: ImportView): z.infer<typeof importSchema> {
  return {
    ...view,
    complaintCount: complaints,
    createdAt: createdAt.toISOString(),
    completedAt: completedAt?.toISOString() ?? null,
  };
}

export const importWithComplaints = (view: ImportView, complaints: ImportComplaint[]) => ({
  ...importJson(view),
  complaints,
});
