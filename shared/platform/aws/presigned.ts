/** Makes links to objects of the bucket for readers without access of their own. */
import { GetObjectCommand, PutObjectCommand, type S3Client } from "@aws-sdk/client-s3";
import { getSignedUrl } from "@aws-sdk/s3-request-presigner";

const CHECKSUM = "x-amz-checksum-sha256";

export interface LinkMaker {
  /** @returns the link, and when it stops working, in epoch ms */
  linkTo(key: string): Promise<{ url: string; expiresAt: number }>;
  /**
   * A link that takes one file by PUT, with these headers: S3 refuses any other than the one of this digest.
   * @param sha256 hex
   */
  uploadTo(key: string, sha256: string): Promise<{ url: string; expiresAt: number; headers: Record<string, string> }>;
}

/** @param lifetimeS less than the credentials of a function live, which are some hours */
export function createLinkMaker(s3: S3Client, bucket: string, lifetimeS: number): LinkMaker {
  return {
    async linkTo(key) {
      const expiresAt = Date.now() + 1000 * lifetimeS;
      const command = new GetObjectCommand({ Bucket: bucket, Key: key });
      return { url: await getSignedUrl(s3, command, { expiresIn: lifetimeS }), expiresAt };
    },
    async uploadTo(key, sha256) {
      const expiresAt = Date.now() + 1000 * lifetimeS;
      const ChecksumSHA256 = Buffer.from(sha256, "hex").toString("base64");
      const command = new PutObjectCommand({ Bucket: bucket, Key: key, ChecksumSHA256 });
      const unhoistableHeaders = new Set([CHECKSUM]);
      const url = await getSignedUrl(s3, command, { expiresIn: lifetimeS, unhoistableHeaders });
      return { url, expiresAt, headers: { [CHECKSUM]: ChecksumSHA256 } };
    },
  };
}
