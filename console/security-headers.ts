/** What a browser is told about the console, wherever it is served from. */

/** Origins beside the console's own, e.g. `https://example.org`. */
export interface OtherOrigins {
  /** Where captures are replayed; undefined: nowhere. */
  replay: string | undefined;
  /** The bucket, which takes files that are larger than a request of the API. */
  storage: string;
}

/**
 * Lets the page load itself, ask its own origin, put files into the bucket, and frame replay, and nothing else: no
 * script stands in a document, and no text becomes markup.
 */
export function contentPolicy({ replay, storage }: OtherOrigins): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data: blob:",
    `connect-src 'self' ${storage}`,
    `frame-src ${replay ?? "'none'"}`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join("; ");
}

/** Beside the policy. */
export const SECURITY_HEADERS = {
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "permissions-policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
} as const;

/** Files with a hash in their name never change. */
export const FOR_EVER = "public, max-age=31536000, immutable";
/** Asked for each time, and sent only where it has changed. */
export const ASKED_EACH_TIME = "no-cache";
