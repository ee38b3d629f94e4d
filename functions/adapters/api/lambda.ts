/** API Gateway proxy events in, proxy results out. */
import type { APIGatewayProxyEvent, APIGatewayProxyResult, Context } from "aws-lambda";
import type { Env, Hono } from "hono";
import { handle } from "hono/aws-lambda";
import { ApiError } from "../../../shared/platform/errors.ts";
import { uuidv7 } from "../../../shared/platform/ids.ts";
import { createLogger } from "../../../shared/platform/observability/log.ts";
import { once } from "../../../shared/platform/once.ts";
import { type ErrorShape, errorResponse, toApiError } from "./errors.ts";

export type LambdaHandler = (event: APIGatewayProxyEvent, context: Context) => Promise<APIGatewayProxyResult>;

/** @param app built at the first request */
export function createLambdaHandler<E extends Env>(
  name: string,
  app: () => Hono<E>,
  shape?: ErrorShape,
): LambdaHandler {
  const serve = once(() => handle(app()) as (event: unknown, context: Context) => Promise<APIGatewayProxyResult>);
  return async (event, context) => {
    // a Request with these methods may not hold a body; whatever was sent along has no meaning
    const bodiless = event.httpMethod === "GET" || event.httpMethod === "HEAD";
    try {
      const result = await serve()(bodiless ? { ...event, body: null } : event, context);
      // an event that makes no valid Request, e.g. for a header name with a space, never reaches the routes
      if (result.statusCode !== 400 || result.body !== "Invalid request") return result;
      return errorResult(event, invalidRequest(), shape);
    } catch (error) {
      // the router lets through what is thrown and is no Error
      createLogger({ function: name }).error("request failed", { request_id: event.requestContext?.requestId, error });
      return errorResult(event, toApiError(error), shape);
    }
  };
}

export const invalidRequest = (): ApiError =>
  new ApiError(400, "The request is not valid HTTP", { code: "BAD_REQUEST" });

function errorResult(event: APIGatewayProxyEvent, error: ApiError, shape?: ErrorShape): APIGatewayProxyResult {
  const body = JSON.stringify(errorResponse(error, event.requestContext?.requestId ?? uuidv7(), shape));
  return { statusCode: error.status, headers: { "content-type": "application/json" }, body };
}
