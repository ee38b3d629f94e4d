/**
 * Serves the handbook in `demo/site` on a loopback port, the way a small real site does: validators and conditional
 * GET, redirects, a robots.txt, a site map, 404. A page that begins with a doctype is served byte for byte; any other
 * page is an article that `layout.html` surrounds with the site's navigation and footer.
 */
import { createHash } from "node:crypto";
import { glob, readFile, stat } from "node:fs/promises";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { extname, join, resolve, sep } from "node:path";

export interface SiteRequest {
  method: string;
  path: string;
  status: number;
}

export interface SiteServer {
  /** `http://127.0.0.1:PORT`, without a slash at the end. */
  origin: string;
  /** Host with port, as the URL guard's allow list wants it. */
  host: string;
  /** Every request so far, in order. */
  requests: readonly SiteRequest[];
  close(): Promise<void>;
}

interface Answer {
  status: number;
  headers: Record<string, string>;
  body: string | Buffer;
}

const ROOT = join(import.meta.dirname, "site");

/** Addresses that pages once had. */
const MOVED: Record<string, string> = {
  "/concepts/robots-txt.html": "/concepts/robots.html",
  "/start": "/guide/quick-start.html",
};

const MEDIA_TYPES: Record<string, string> = {
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".txt": "text/plain; charset=utf-8",
};

/**
 * Listens on `port`, 0 for any free one.
 * @throws the `listen` error, e.g. with code EADDRINUSE
 */
export async function startSiteServer({ port = 0 }: { port?: number } = {}): Promise<SiteServer> {
  const requests: SiteRequest[] = [];
  let origin = "";
  const server = createServer((request, response) => {
    const path = (request.url ?? "/").split("?", 1)[0] ?? "/";
    answer(request, path, origin).then(
      (result) => {
        requests.push({ method: request.method ?? "GET", path, status: result.status });
        send(request, response, result);
      },
      () => response.writeHead(500).end(),
    );
  });
  await new Promise<void>((listening, failed) => {
    server.once("error", failed);
    server.listen(port, "127.0.0.1", listening);
  });
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("The site server listens on no TCP port");
  const host = `127.0.0.1:${address.port}`;
  origin = `http://${host}`;
  return {
    origin,
    host,
    requests,
    close: () =>
      new Promise((closed, failed) => {
        server.close((error) => (error === undefined ? closed() : failed(error)));
        server.closeAllConnections();
      }),
  };
}

async function answer(request: IncomingMessage, path: string, origin: string): Promise<Answer> {
  if (request.method !== "GET" && request.method !== "HEAD") {
    return { status: 405, headers: { allow: "GET, HEAD" }, body: "Method not allowed\n" };
  }
  const target = MOVED[path];
  if (target !== undefined) return redirect(target);
  if (path === "/sitemap.xml") return withValidators(request, await siteMap(origin), "application/xml", new Date(0));
  const file = resolveInside(path.endsWith("/") ? `${path}index.html` : path);
  const found = file === undefined ? undefined : await stat(file).catch(() => undefined);
  if (file === undefined || found === undefined || path === "/layout.html") return notFound();
  if (found.isDirectory()) return redirect(`${path}/`);
  const bytes = await readFile(file);
  const extension = extname(file);
  if (extension !== ".html") {
    const body = extension === ".txt" ? bytes.toString("utf8").replaceAll("{{origin}}", origin) : bytes;
    return withValidators(request, body, MEDIA_TYPES[extension] ?? "application/octet-stream", found.mtime);
  }
  // a whole page declares its own encoding, which need not be UTF-8
  if (bytes.subarray(0, 9).toString("latin1").toLowerCase() === "<!doctype") {
    return withValidators(request, bytes, "text/html", found.mtime);
  }
  return withValidators(request, await inLayout(bytes.toString("utf8")), "text/html; charset=utf-8", found.mtime);
}

/** @returns the file of a URL path, or undefined where the path does not decode or leaves the site's folder */
function resolveInside(path: string): string | undefined {
  let decoded: string;
  try {
    decoded = decodeURIComponent(path);
  } catch {
    return undefined;
  }
  const file = resolve(ROOT, `.${decoded}`);
  return file.startsWith(ROOT + sep) && !decoded.includes("\0") ? file : undefined;
}

/** What stands before the first heading belongs into the head. */
async function inLayout(page: string): Promise<string> {
  const layout = await readFile(join(ROOT, "layout.html"), "utf8");
  const main = page.indexOf("<h1");
  return layout
    .replace("{{head}}", () => page.slice(0, main).trim())
    .replace("{{main}}", () => page.slice(main).trim());
}

async function siteMap(origin: string): Promise<string> {
  const paths = await sitePaths();
  const entries = paths
    .filter((path) => !path.startsWith("/drafts/"))
    .map((path) => `<url><loc>${origin}${path}</loc></url>`);
  return `<?xml version="1.0" encoding="UTF-8"?>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
${entries.join("\n")}
</urlset>
`;
}

/** The path of every page of the site, in order. */
export async function sitePaths(): Promise<string[]> {
  const paths: string[] = [];
  for await (const file of glob("**/*.html", { cwd: ROOT })) {
    const path = `/${file.split(sep).join("/")}`;
    if (path !== "/layout.html") paths.push(path.replace(/\/index\.html$/, "/"));
  }
  return paths.sort();
}

function withValidators(request: IncomingMessage, body: string | Buffer, type: string, modified: Date): Answer {
  const etag = `"${createHash("sha256").update(body).digest("hex").slice(0, 16)}"`;
  const headers = { "content-type": type, etag, "last-modified": modified.toUTCString(), "cache-control": "no-cache" };
  // RFC 9110, section 13.2.2: If-None-Match decides alone where it is present
  const tags = request.headers["if-none-match"];
  const since = Date.parse(request.headers["if-modified-since"] ?? "");
  const unchanged =
    tags === undefined
      ? Math.floor(modified.getTime() / 1000) * 1000 <= since
      : tags.split(",").some((tag) => [etag, `W/${etag}`, "*"].includes(tag.trim()));
  return unchanged ? { status: 304, headers, body: "" } : { status: 200, headers, body };
}

function redirect(location: string): Answer {
  return { status: 301, headers: { location }, body: "" };
}

function notFound(): Answer {
  const body = "<!doctype html><title>Not found</title><h1>Not found</h1><p>There is no page here.</p>\n";
  return { status: 404, headers: { "content-type": "text/html; charset=utf-8" }, body };
}

function send(request: IncomingMessage, response: ServerResponse, { status, headers, body }: Answer): void {
  const bytes = Buffer.from(body);
  if (status !== 304) response.setHeader("content-length", bytes.length);
  response.writeHead(status, headers).end(request.method === "HEAD" || status === 304 ? undefined : bytes);
}
