/** Files that are larger than an API body: put into the bucket by a link, and read where a document is made of them. */
import type { LinkMaker } from "../../platform/aws/presigned.ts";
import type { Uploads } from "../../platform/aws/uploads.ts";
import { ApiError } from "../../platform/errors.ts";
import { uuidv7 } from "../../platform/ids.ts";
import { tooLarge } from "./unread.ts";

/** What lies there is deleted after a day. */
const UPLOADS_PREFIX = "uploads/";
/** In bytes. */
export const LARGEST_FILE = 25 * 1024 * 1024;

/** @param sha256 hex: the link takes no other file */
export async function announceUpload(links: Pick<LinkMaker, "uploadTo">, sha256: string) {
  const id = uuidv7();
  return { id, ...(await links.uploadTo(`${UPLOADS_PREFIX}${id}`, sha256)) };
}

/** @throws ApiError 404 NOT_FOUND, 413 FILE_TOO_LARGE */
export async function readUploadedObject(uploads: Uploads, id: string): Promise<Uint8Array> {
  const key = `${UPLOADS_PREFIX}${id}`;
  const object = await uploads.head(key);
  if (object === undefined) {
    const message = `There is no file of upload_id ${id}: PUT it to its upload_url first, not more than a day before`;
    throw new ApiError(404, message, { code: "NOT_FOUND" });
  }
  if (object.bytes > LARGEST_FILE) throw tooLarge(`The file has ${object.bytes} bytes: ${LARGEST_FILE} are read`);
  const parts: Uint8Array[] = [];
  for await (const part of uploads.stream(key, { offset: 0, etag: object.etag })) parts.push(part);
  return Buffer.concat(parts);
}
