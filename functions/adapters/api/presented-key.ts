/** The API key of a request: `Authorization: Bearer KEY`, or `X-API-Key: KEY`. */
export function presentedKey(header: (name: string) => string | undefined): string | undefined {
  const bearer = /^Bearer +(\S+)$/i.exec(header("authorization")?.trim() ?? "")?.[1];
  return bearer ?? header("x-api-key")?.trim();
}
