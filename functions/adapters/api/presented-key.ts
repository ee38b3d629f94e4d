import { isWellFormedKey } from "../../../shared/access/api-keys.ts";

/** The API key of a request: `Authorization: Bearer KEY`, or `X-API-Key: KEY` or `X-Admin-Token: KEY`. */
export function presentedKey(header: (name: string) => string | undefined): string | undefined {
  const bearer = /^Bearer +(\S+)$/i.exec(header("authorization")?.trim() ?? "")?.[1];
  return bearer ?? (header("x-api-key") ?? header("x-admin-token"))?.trim();
}

/** Whether a request presents what has the form of a key, whoever's it may be. */
export const presentsKey = (header: (name: string) => string | undefined): boolean =>
  isWellFormedKey(presentedKey(header) ?? "");
