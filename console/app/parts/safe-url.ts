/** Addresses that the API gives were written by strangers: only what leads to a web page becomes a link. */

/** Gives the URL where it is http or https; a script or a file is none that a link may lead to. */
export function webUrl(text: string | null | undefined): string | undefined {
  const url = text ? URL.parse(text) : null;
  return url !== null && (url.protocol === "http:" || url.protocol === "https:") ? url.href : undefined;
}
