/**
 * The HTTP side of an embedded service: it reads whole requests, refuses what is not signed with the credentials of
 * this start, and answers whatever becomes of the service behind it.
 */
import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { freePort } from "../ports.ts";
import { BodyTooLarge, readBody } from "./body.ts";
import { refusalOf } from "./callers.ts";
import { KEPT_CONNECTIONS } from "./idle-connections.ts";
import { type SignatureCheck, SignatureError } from "./signature.ts";

export interface ServiceCall {
  method: string;
  /** The request target. */
  url: string;
  headers: IncomingHttpHeaders;
  body: Buffer;
}

export interface ServiceAnswer {
  status: number;
  headers: Record<string, string>;
  body: string;
}

export interface Service {
  /** The name in signatures. */
  service: string;
  signatures: SignatureCheck;
  largestBodyBytes: number;
  answer(call: ServiceCall): Promise<ServiceAnswer>;
}

export interface ServiceFrontOptions extends Service {
  /** Taken if it is free; 0: any free one. */
  port?: number;
}

export interface ServiceFront {
  /** `http://127.0.0.1:PORT` */
  url: string;
  port: number;
  stop(): Promise<void>;
}

/** As the JSON protocols of AWS name their errors. */
export const errorAnswer = (status: number, type: string, message: string): ServiceAnswer => ({
  status,
  headers: { "content-type": "application/x-amz-json-1.0", "x-amzn-errortype": type },
  body: JSON.stringify({ __type: type, message, Message: message }),
});

export const signatureAnswer = ({ fault, message }: SignatureError): ServiceAnswer =>
  errorAnswer(403, ERROR_TYPES[fault], message);

const ERROR_TYPES = {
  missing: "MissingAuthenticationTokenException",
  key: "UnrecognizedClientException",
  service: "InvalidSignatureException",
  expired: "InvalidSignatureException",
  signature: "InvalidSignatureException",
} as const;

/** @throws the listen error */
export async function startServiceFront(options: ServiceFrontOptions): Promise<ServiceFront> {
  const server = createServer(KEPT_CONNECTIONS, (request, response) => void answerFrom(options, request, response));
  server.listen(await freePort(options.port), "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    async stop() {
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

/** Answers one request, where the service shares a port with others. */
export async function answerFrom(service: Service, request: IncomingMessage, response: ServerResponse): Promise<void> {
  response.on("error", () => {});
  try {
    const { status, headers, body } = await answerOf(request, service);
    response.writeHead(status, { ...headers, "content-length": Buffer.byteLength(body) });
    response.end(body);
  } catch {
    // whoever hung up hears nothing
    response.destroy();
  }
}

/** @throws what ended the request's connection */
async function answerOf(request: IncomingMessage, options: Service): Promise<ServiceAnswer> {
  const { method = "", url = "", headers } = request;
  const refusal = refusalOf(request);
  if (refusal !== undefined) return errorAnswer(refusal.status, "AccessDeniedException", refusal.message);
  try {
    const claim = options.signatures.claimOf({ method, url, headers }, [options.service]);
    const body = await readBody(request, options.largestBodyBytes);
    await claim.verify(body);
    return await options.answer({ method, url, headers, body });
  } catch (error) {
    if (error instanceof SignatureError) return signatureAnswer(error);
    if (error instanceof BodyTooLarge) return errorAnswer(413, "PayloadTooLargeException", "The request is too large");
    if (!request.complete) throw error;
    return errorAnswer(500, "InternalServerError", error instanceof Error ? error.message : String(error));
  }
}
