/** Middleware that logs why an invocation failed, with all causes and without secrets. The error goes on to Lambda. */
import type { MiddlewareObj } from "@middy/core";
import type { Context } from "aws-lambda";
import { createLogger, type Logger } from "../../../shared/platform/observability/log.ts";

export interface FailureLogOptions {
  /** For the function of this invocation; it works where its dependencies cannot be made, too. */
  logger?: (fields: { function: string | undefined }) => Pick<Logger, "error">;
}

export function failureLog({
  logger = createLogger,
}: FailureLogOptions = {}): MiddlewareObj<unknown, unknown, Error, Partial<Pick<Context, "functionName">>> {
  return {
    onError: ({ error, context }) => {
      logger({ function: context.functionName }).error("the invocation failed", { error });
    },
  };
}
