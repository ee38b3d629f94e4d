/** Makes links to objects of the bucket for readers without access of their own. */
import { GetObjectCommand, type S3Client } from "@aws-sdk/client-s3";
import { getSignedUrl } from "@aws-sdk/s3-request-presigner";

export interface LinkMaker {
  /** @returns the link, and when it stops working, in epoch ms */
  linkTo(key: string): Promise<{ url: string; expiresAt: number }>;
}

/** @param lifetimeS less than the credentials of a function live, which are some hours */
export function createLinkMaker(s3: S3Client, bucket: string, lifetimeS: number): LinkMaker {
  return {
    async linkTo(key) {
      const expiresAt = Date.now() + 1000 * lifetimeS;
      const command = new GetObjectCommand({ Bucket: bucket, Key: key });
      return { url: await getSignedUrl(s3, command, { expiresIn: lifetimeS }), expiresAt };
    },
  };
}
