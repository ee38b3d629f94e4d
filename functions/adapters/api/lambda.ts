/**
 * API Gateway proxy events in, responses out: the one way from an event to the routes, whether the response is streamed
 * or not.
 */
import type { APIGatewayProxyEvent, APIGatewayProxyResult, Context } from "aws-lambda";
import { ApiError } from "../../../shared/platform/errors.ts";
import { uuidv7 } from "../../../shared/platform/ids.ts";
import { createLogger } from "../../../shared/platform/observability/log.ts";
import { isCompressible } from "./answer-coding.ts";
import { type ErrorShape, errorResponse, toApiError } from "./errors.ts";
import { requestOf } from "./request.ts";

export type LambdaHandler = (event: APIGatewayProxyEvent, context: Context) => Promise<APIGatewayProxyResult>;

export interface ServedApp {
  /** The function's, for its log lines. */
  name: string;
  /** Built at the first request. */
  app(): { fetch(request: Request, bindings: object): Response | Promise<Response> };
  errors: ErrorShape | undefined;
}

export function createLambdaHandler(served: ServedApp): LambdaHandler {
  return async (event) => {
    const answer = await proxyAnswer(await respond(served, event, {}));
    if (!isTooLarge(answer)) return answer;
    const message = "The answer is larger than 6 MB: ask for less at once, with a lower limit or fewer fields";
    const error = new ApiError(400, message, { code: "RESULT_TOO_LARGE" });
    const requestId = event.requestContext?.requestId ?? uuidv7();
    const refused = Response.json(errorResponse(error, requestId, served.errors), { status: error.status });
    for (const [name, value] of Object.entries(answer.headers)) {
      if (!refused.headers.has(name) && name !== "content-length") refused.headers.set(name, value);
    }
    return await proxyAnswer(refused);
  };
}

type ProxyAnswer = APIGatewayProxyResult & { headers: Record<string, string> };

async function proxyAnswer(response: Response): Promise<ProxyAnswer> {
  return { statusCode: response.status, headers: Object.fromEntries(response.headers), body: await response.text() };
}

/** The most that Lambda answers with, in bytes of the JSON that holds the response. */
const LARGEST_ANSWER_BYTES = 6 * 1024 * 1024 - 1024;

/** Escapes add to a body, each of its characters being six bytes at the most. */
const isTooLarge = (answer: ProxyAnswer): boolean =>
  answer.body.length > LARGEST_ANSWER_BYTES / 6 && Buffer.byteLength(JSON.stringify(answer)) > LARGEST_ANSWER_BYTES;

/** The `Accept-Encoding` of a request. */
export function acceptedEncodings({ multiValueHeaders, headers }: APIGatewayProxyEvent): string | undefined {
  const named = Object.entries(multiValueHeaders ?? {}).find(([name]) => name.toLowerCase() === "accept-encoding");
  if (named !== undefined) return named[1]?.join(",");
  return Object.entries(headers ?? {}).find(([name]) => name.toLowerCase() === "accept-encoding")?.[1];
}

/** @param bindings what the routes find beside the event. Never rejects: what goes wrong is an error response. */
export async function respond(
  { name, app, errors }: ServedApp,
  event: APIGatewayProxyEvent,
  bindings: object,
): Promise<Response> {
  const failed = (error: ApiError) => {
    const body = errorResponse(error, event.requestContext?.requestId ?? uuidv7(), errors);
    return Response.json(body, { status: error.status, headers: error.headers });
  };
  try {
    const request = requestOf(event);
    if (request !== undefined) return varying(await app().fetch(request, { event, ...bindings }));
    return failed(new ApiError(400, "The request is not valid HTTP", { code: "BAD_REQUEST" }));
  } catch (error) {
    // the router lets through what is thrown and is no Error
    createLogger({ function: name }).error("request failed", { request_id: event.requestContext?.requestId, error });
    return failed(toApiError(error));
  }
}

/** Says to caches that who accepts other codings may get other bytes, whoever compresses them. */
function varying(response: Response): Response {
  if (isCompressible(response.headers.get("content-type"))) response.headers.append("vary", "accept-encoding");
  return response;
}
