/** Middleware that parses what a function is given: the handler sees only what its schema puts out. */
import type { MiddlewareObj } from "@middy/core";
import type { z } from "zod";
import { PermanentError } from "../../../shared/platform/errors.ts";

export interface ParsedOptions {
  schema: z.ZodType;
  /** `json`: the event is JSON text. `value`, the default: the schema is given the event as it stands. */
  from?: "json" | "value";
}

/** Throws, where the event does not fit, a PermanentError MESSAGE_INVALID: no other try could make it fit. */
export function parsed<Context>({
  schema,
  from = "value",
}: ParsedOptions): MiddlewareObj<unknown, unknown, Error, Context> {
  return {
    before: (request) => {
      const result = schema.safeParse(from === "json" ? parseJson(String(request.event)) : request.event);
      if (!result.success) {
        const message = `The message has the wrong shape: ${result.error.message}`;
        throw new PermanentError(message, { code: "MESSAGE_INVALID" });
      }
      request.event = result.data;
    },
  };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new PermanentError("The message is not JSON", { code: "MESSAGE_INVALID", cause });
  }
}
