/** The key of a file that somebody has put into the bucket to be archived. */
import { z } from "zod";
import { INCOMING_PREFIX } from "../../../shared/archive/import/task.ts";

/** Bytes that S3 takes. */
const LONGEST_KEY = 1024;

export const incomingKeySchema = z
  .string()
  .max(LONGEST_KEY)
  .refine((key) => Buffer.byteLength(key) <= LONGEST_KEY, `is over the ${LONGEST_KEY} bytes that a key may have`)
  .regex(new RegExp(`^${INCOMING_PREFIX}.+`), `must be the key of an object below ${INCOMING_PREFIX}`)
  // to the store these are names like any other, and to some that pass requests on they are ways out
  .refine((key) => !key.split("/").some((part) => part === "." || part === ".."), "has a part that is . or ..");
