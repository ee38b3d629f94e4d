/** A proxy event of API Gateway as a Request. */
import type { APIGatewayProxyEvent } from "aws-lambda";

/** @returns undefined where it makes no valid Request, e.g. for a header name with a space */
export function requestOf(event: APIGatewayProxyEvent): Request | undefined {
  try {
    const headers = new Headers();
    for (const [name, values] of Object.entries(event.multiValueHeaders ?? {})) {
      for (const value of values ?? []) headers.append(name, asciiOf(value));
    }
    for (const [name, value] of Object.entries(event.headers ?? {})) {
      if (value !== undefined && !headers.has(name)) headers.set(name, asciiOf(value));
    }
    // a Request with these methods may not hold a body; whatever was sent along has no meaning
    const bodiless = event.httpMethod === "GET" || event.httpMethod === "HEAD";
    const body = bodiless || !event.body ? null : Buffer.from(event.body, event.isBase64Encoded ? "base64" : "utf8");
    if (body !== null) headers.set("content-length", String(body.length));
    const query = new URLSearchParams();
    for (const [name, values] of Object.entries(event.multiValueQueryStringParameters ?? {})) {
      for (const value of values ?? []) query.append(name, value);
    }
    const host = headers.get("host") ?? "localhost";
    // in a path both are the same character
    const path = event.path.replaceAll(/%2b/gi, "+");
    const target = `https://${host}${path}${query.size > 0 ? `?${query}` : ""}`;
    return new Request(target, { method: event.httpMethod, headers, body });
  } catch (error) {
    if (error instanceof TypeError) return undefined;
    throw error;
  }
}

/** Headers hold Latin-1 at the most; the rest is percent-encoded. */
const asciiOf = (value: string): string => (/^[\x20-\x7e\t]*$/.test(value) ? value : encodeURIComponent(value));
