/** Files that are larger than a request of the API: they go into the bucket, by a link that takes this one file. */
import { ApiFault, call } from "./client.ts";

interface Announced {
  upload_id: string;
  upload_url: string;
  headers: Record<string, string>;
}

/**
 * Puts a file where the API says.
 * @returns the id by which the API finds it, for a day
 * @throws ApiFault
 */
export async function putFile(content: Uint8Array<ArrayBuffer>): Promise<string> {
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", content));
  const sha256 = [...digest].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  const body = { bytes: content.length, sha256 };
  const { upload_id, upload_url, headers } = await call<Announced>("/api/v1/documents/uploads", { body });
  const refused = { error: "The file did not get into the storage: try again", code: "UPLOAD_REFUSED" };
  // without the key: the link itself is what allows it
  const options = {
    method: "PUT",
    body: content,
    headers,
    credentials: "omit",
    referrerPolicy: "no-referrer",
  } as const;
  const answer = await fetch(upload_url, options).catch(() => {
    throw new ApiFault(0, refused);
  });
  if (!answer.ok) throw new ApiFault(answer.status, refused);
  return upload_id;
}
