/** RFC 4648, section 4. */

const STEP = 32_768;

export function base64(content: Uint8Array): string {
  let text = "";
  for (let at = 0; at < content.length; at += STEP) text += String.fromCharCode(...content.subarray(at, at + STEP));
  return btoa(text);
}
