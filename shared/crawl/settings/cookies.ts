/** Cookies of a job: each for the one host that it names. */
import { z } from "zod";

const cookieSchema = z.strictObject({
  /**
   * The name of the host, lower case: `shop.example.org`, and no other host gets it. With a port, `localhost:3000`, no
   * other port either.
   */
  host: z
    .string()
    .min(1)
    .max(259)
    .regex(
      /^([a-z0-9._-]+|\[[0-9a-f:.]+\])(:[1-9][0-9]{0,4})?$/,
      "must be a host, in lower case, with or without a port",
    )
    .refine((host) => URL.canParse(`http://${host}/`), "must be a host, in lower case, with or without a port"),
  name: z
    .string()
    .max(200)
    .regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/),
  /** RFC 6265, cookie-octet. */
  value: z
    .string()
    .max(4_096)
    .regex(/^[\x21\x23-\x2b\x2d-\x3a\x3c-\x5b\x5d-\x7e]*$/),
});
/** Together, as servers take no more of them: characters of JSON. */
const MAX_COOKIES_LENGTH = 8_192;

export const cookiesSchema = z
  .array(cookieSchema)
  .max(50)
  .refine(
    (cookies) => JSON.stringify(cookies).length <= MAX_COOKIES_LENGTH,
    `hold over ${MAX_COOKIES_LENGTH} characters`,
  );
export type Cookie = z.output<typeof cookieSchema>;

/** @returns the value of the `Cookie` header for a URL; null where no cookie is for its host */
export function cookieHeader(cookies: readonly Cookie[], url: URL): string | null {
  const own = cookies.filter(({ host }) => isHostOf(host, url));
  return own.length === 0 ? null : own.map(({ name, value }) => `${name}=${value}`).join("; ");
}

const isHostOf = (host: string, { hostname, port, protocol }: URL): boolean =>
  host === hostname || host === `${hostname}:${port || (protocol === "https:" ? 443 : 80)}`;
