/**
 * In front of SQS and S3: what is not signed with the credentials of this start, or is for neither of the two, goes no
 * further.
 */
import type { IncomingHttpHeaders } from "node:http";
import { refusalOf } from "../front/callers.ts";
import { type ServiceAnswer, signatureAnswer } from "../front/service-front.ts";
import { type Claim, type SignatureCheck, SignatureError, type SignatureFault } from "../front/signature.ts";
import type { FauxqsApp } from "./fauxqs-patch.ts";
import { sha256Of } from "./large-bodies.ts";

/** Pages of fauxqs's own. */
const OWN_PAGE = /^\/(_fauxqs|health)/;
const SQS_TYPE = "application/x-amz-json-1.0";
const NOTHING = new Uint8Array();

/** To be called before the app listens. */
export function guardFauxqs(app: FauxqsApp, signatures: SignatureCheck): void {
  const claims = new WeakMap<object, Claim>();
  /** Bodies as they came, where the app makes something else of them. */
  const bodies = new WeakMap<object, Buffer>();

  app.removeContentTypeParser([SQS_TYPE, "application/x-www-form-urlencoded"]);
  app.addContentTypeParser(SQS_TYPE, { parseAs: "buffer" }, (request, body: Buffer, done) => {
    bodies.set(request, body);
    try {
      const parsed: unknown = JSON.parse(body.toString());
      if (typeof parsed !== "object" || parsed === null) throw new SyntaxError("The body is no JSON object");
      done(null, parsed);
    } catch (error) {
      done(Object.assign(error as Error, { statusCode: 400 }));
    }
  });

  app.addHook("onRequest", async (request, reply) => {
    const { method, url, headers } = request;
    const service = method === "POST" && request.routeOptions.url === "/" ? "sqs" : "s3";
    const takesPages = isUploadLink(method, request.raw.url ?? url, headers);
    const refusal = refusalOf(request.raw, takesPages);
    if (refusal !== undefined) return send(reply, refuse(service, refusal.status, "AccessDenied", refusal.message));
    if (takesPages && headers.origin !== undefined) {
      reply.headers({ "access-control-allow-origin": headers.origin, vary: "origin" });
      if (method === "OPTIONS") return send(reply, { status: 204, headers: UPLOADS_OF_PAGES, body: "" });
    }
    try {
      claims.set(request, signatures.claimOf({ method, url: request.raw.url ?? url, headers }, [service]));
    } catch (error) {
      return send(reply, faultAnswer(service, error));
    }
    if (service === "s3" ? OWN_PAGE.test(request.routeOptions.url ?? "") : !isSqs(headers["content-type"])) {
      return send(reply, refuse(service, 404, "NotFound", "SQS and S3 are served here, and nothing else"));
    }
  });
  app.addHook("preHandler", async (request, reply) => {
    const claim = claims.get(request);
    const body = bodies.get(request) ?? (Buffer.isBuffer(request.body) ? request.body : NOTHING);
    try {
      if (claim === undefined) throw new SignatureError("missing", "Not signed");
      await claim.verify(body);
    } catch (error) {
      return send(reply, faultAnswer(claim?.service ?? "s3", error));
    }
    // fauxqs keeps the checksum of an upload, and does not compare it
    const stated = request.headers["x-amz-checksum-sha256"];
    if (stated !== undefined && stated !== sha256Of(body)) {
      return send(reply, refuse("s3", 400, "BadDigest", "The SHA-256 of the object is not the one that was stated"));
    }
  });
}

/** What the bucket of a deployment says of them, too. */
const UPLOADS_OF_PAGES = {
  "access-control-allow-methods": "PUT",
  "access-control-allow-headers": "x-amz-checksum-sha256",
};

/** Whether a page has been given the link by which it asks: the console puts large files into the bucket itself. */
function isUploadLink(method: string, url: string, headers: IncomingHttpHeaders): boolean {
  const asked = method === "OPTIONS" ? headers["access-control-request-method"] : method;
  return asked === "PUT" && URL.parse(url, "http://127.0.0.1")?.searchParams.has("X-Amz-Signature") === true;
}

interface Reply {
  status(code: number): unknown;
  headers(values: Record<string, string>): unknown;
  send(body: string): unknown;
}

/** @returns the reply, by which a hook says that it answered */
function send<R extends Reply>(reply: R, { status, headers, body }: ServiceAnswer): R {
  reply.status(status);
  reply.headers(headers);
  reply.send(body);
  return reply;
}

const isSqs = (type: string | undefined): boolean => type?.toLowerCase().startsWith(SQS_TYPE) ?? false;

/** @throws what is no fault of the signature */
function faultAnswer(service: string, error: unknown): ServiceAnswer {
  if (!(error instanceof SignatureError)) throw error;
  return service === "sqs" ? signatureAnswer(error) : refuse("s3", 403, S3_CODES[error.fault], error.message);
}

const S3_CODES: Record<SignatureFault, string> = {
  missing: "AccessDenied",
  key: "InvalidAccessKeyId",
  service: "AccessDenied",
  expired: "AccessDenied",
  signature: "SignatureDoesNotMatch",
};

function refuse(service: string, status: number, code: string, message: string): ServiceAnswer {
  if (service === "sqs") {
    const body = JSON.stringify({ __type: `com.amazonaws.sqs#${code}`, message });
    return { status, headers: { "content-type": SQS_TYPE }, body };
  }
  // nothing of the request is in it that XML would have to escape
  const text = message.replace(/[<&>]/g, "");
  const body = `<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>${code}</Code><Message>${text}</Message></Error>`;
  return { status, headers: { "content-type": "application/xml" }, body };
}
