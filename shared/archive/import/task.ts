/** Messages of the `imports` queue: an object that S3 tells of, or an import that goes on. */
import { z } from "zod";

export const IMPORTS_QUEUE = "imports";
/** Uploads lie below it, and nothing else does. */
export const INCOMING_PREFIX = "incoming/";

const importTaskSchema = z.strictObject({ importId: z.uuid() });
export type ImportTask = z.infer<typeof importTaskSchema>;

/** As much of an event of S3 as names its object. */
const objectEventSchema = z.object({
  Records: z.array(
    z.object({
      s3: z.object({
        object: z.object({ key: z.string(), size: z.number().default(0), eTag: z.string() }),
      }),
    }),
  ),
});
/** Sent once, when the bucket's notification is set up. */
const testEventSchema = z.object({ Event: z.literal("s3:TestEvent") });

export const importMessageSchema = z.union([importTaskSchema, objectEventSchema, testEventSchema]);
export type ImportMessage = z.infer<typeof importMessageSchema>;

export interface UploadedObject {
  key: string;
  bytes: number;
  etag: string;
}

/** The objects that an event tells of. */
export function uploadedObjects(event: z.infer<typeof objectEventSchema>): UploadedObject[] {
  return event.Records.map(({ s3: { object } }) => ({
    // encoded as in a form
    key: decodeURIComponent(object.key.replaceAll("+", " ")),
    bytes: object.size,
    etag: object.eTag.replaceAll('"', ""),
  }));
}
