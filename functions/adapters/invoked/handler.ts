/**
 * The one way to serve what is neither a queue nor a route: schedules, the migration, WebSocket events. The event is
 * parsed, and a failure is logged with its causes before Lambda learns of it.
 *
 * @example
 * export const handler = createInvokedHandler({ schema: z.unknown(), handle: () => tidyUp(dependencies()) });
 */
import middy from "@middy/core";
import type { Context } from "aws-lambda";
import type { z } from "zod";
import { failureLog } from "../middleware/failure-log.ts";
import { NO_EARLY_END } from "../middleware/options.ts";
import { parsed } from "../middleware/parsed.ts";

export interface InvokedFunction<Event, Result> {
  schema: z.ZodType<Event>;
  handle(event: Event, invocation: { remainingMs(): number }): Promise<Result>;
}

type Invocation = Partial<Pick<Context, "getRemainingTimeInMillis" | "functionName">>;

/** @returns the handler; an event that does not fit rejects with PermanentError MESSAGE_INVALID */
export function createInvokedHandler<Event, Result>({
  schema,
  handle,
}: InvokedFunction<Event, Result>): (event?: unknown, context?: Invocation) => Promise<Result> {
  const handler = middy<unknown, Result, Error, Invocation>(NO_EARLY_END)
    .use(failureLog())
    .use(parsed<Invocation>({ schema }))
    .handler(async (event, context) => {
      const remainingMs = () => context.getRemainingTimeInMillis?.() ?? Number.POSITIVE_INFINITY;
      return await handle(event as Event, { remainingMs });
    });
  // whoever invokes by hand may send nothing
  return async (event, context) => await handler(event ?? {}, context ?? {});
}
