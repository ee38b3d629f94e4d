/** Serves the console at `/console/`, on the port of the API: it asks nothing of any other origin. */
import type { IncomingMessage, ServerResponse } from "node:http";
import { placeOf } from "../../console/addresses.ts";
import { cacheControlOf } from "../../console/file-headers.ts";
import { contentPolicy, type OtherOrigins, SECURITY_HEADERS } from "../../console/security-headers.ts";
import { acceptedCoding } from "../../functions/adapters/api/answer-coding.ts";
import { type ConsoleFile, readConsole } from "./console-files.ts";

export interface ConsolePages {
  /**
   * Answers what is asked of the console.
   * @returns whether it answered
   */
  answer(request: IncomingMessage, response: ServerResponse, url: URL): Promise<boolean>;
}

const ROOT = "/console/";

export interface ConsoleOptions {
  others(): OtherOrigins;
  onFault(error: unknown): void;
}

export function createConsolePages({ others, onFault }: ConsoleOptions): ConsolePages {
  let reading: Promise<ReadonlyMap<string, ConsoleFile>> | undefined;
  const read = (): Promise<ReadonlyMap<string, ConsoleFile>> => {
    // where the build failed the next visit tries again
    reading ??= readConsole().catch((error: unknown) => {
      reading = undefined;
      throw error;
    });
    return reading;
  };
  return {
    async answer(request, response, url) {
      if (url.pathname !== ROOT.slice(0, -1) && !url.pathname.startsWith(ROOT)) return false;
      if (request.method !== "GET" && request.method !== "HEAD") {
        response.setHeader("allow", "GET, HEAD");
        return refuse(response, 405, "The console is files: GET and HEAD only");
      }
      const { file: name, location } = placeOf(url.pathname);
      if (location !== undefined) {
        response.writeHead(302, { location }).end();
        return true;
      }
      try {
        const file = name === undefined ? undefined : (await read()).get(name);
        if (name === undefined || file === undefined) return refuse(response, 404, "The console has no such file");
        send(request, response, file, name, others());
      } catch (error) {
        onFault(error);
        refuse(response, 503, "The console could not be built: try `npm run build:console`, which says why");
      }
      return true;
    },
  };
}

function send(
  request: IncomingMessage,
  response: ServerResponse,
  file: ConsoleFile,
  name: string,
  others: OtherOrigins,
): void {
  const headers = {
    ...SECURITY_HEADERS,
    "content-security-policy": contentPolicy(others),
    "cache-control": cacheControlOf(name),
    etag: file.etag,
    vary: "accept-encoding",
  };
  if (matches(request.headers["if-none-match"], file.etag)) return void response.writeHead(304, headers).end();
  const coding = acceptedCoding([request.headers["accept-encoding"]].flat()[0]);
  const body = coding === undefined ? file.body : file[coding];
  response.writeHead(200, {
    ...headers,
    "content-type": file.type,
    "content-length": body.length,
    ...(coding === undefined ? {} : { "content-encoding": coding }),
  });
  response.end(request.method === "HEAD" ? undefined : body);
}

/** RFC 9110 13.1.2 */
const matches = (sent = "", etag: string): boolean =>
  sent.split(",").some((each) => each.trim().replace(/^W\//, "") === etag || each.trim() === "*");

function refuse(response: ServerResponse, status: number, message: string): true {
  response.writeHead(status, { ...SECURITY_HEADERS, "content-type": "text/plain; charset=utf-8" });
  response.end(`${message}\n`);
  return true;
}
