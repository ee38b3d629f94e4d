/**
 * What is checked of a request before and beside its schemas: the size of its body, whether it needs one, and its text.
 */
import type { HonoRequest } from "hono";
import { ApiError } from "../../../shared/platform/errors.ts";
import { isStorable } from "../../../shared/platform/text.ts";
import { notDeclaredAsJson } from "./errors.ts";
import type { DefinedRoute } from "./route.ts";

/** Lambda's own limit of a request; more goes through a presigned upload. */
export const MAX_BODY_BYTES = 6 * 1024 * 1024;
/**
 * JSON values that a schema may have to check, however few bytes each takes. The longest list has 10,000 objects of two
 * fields.
 */
export const MAX_BODY_VALUES = 50_000;
/** The shortest value with what parts it from the next. */
const BYTES_PER_VALUE = 2;

/** @throws ApiError 413 PAYLOAD_TOO_LARGE */
export function refuseLargeBody(): never {
  throw new ApiError(413, `The request body is over the limit of ${MAX_BODY_BYTES} bytes (6 MB)`, {
    code: "PAYLOAD_TOO_LARGE",
    details: { limit_bytes: MAX_BODY_BYTES },
  });
}

/** Whether a JSON text holds more than `MAX_BODY_VALUES` values; what is no JSON holds none. */
export function holdsTooManyValues(json: string): boolean {
  if (json.length <= MAX_BODY_VALUES * BYTES_PER_VALUE) return false;
  const waiting: unknown[] = [parsed(json)];
  let seen = 1;
  for (let value = waiting.pop(); value !== undefined; value = waiting.pop()) {
    if (typeof value !== "object" || value === null) continue;
    const inside = Object.values(value);
    seen += inside.length;
    if (seen > MAX_BODY_VALUES) return true;
    // a spread would put them all on the stack
    for (const each of inside) waiting.push(each);
  }
  return false;
}

/** As JSON may write it. */
const PROTO = /__proto__|\\u005f/i;

/**
 * Whether some object of a JSON text has the one name that no schema sees: its value would be dropped without a word.
 */
export function namesProto(json: string): boolean {
  if (!PROTO.test(json)) return false;
  const waiting: unknown[] = [parsed(json)];
  for (let value = waiting.pop(); value !== undefined; value = waiting.pop()) {
    if (typeof value !== "object" || value === null) continue;
    if (Object.hasOwn(value, "__proto__")) return true;
    for (const each of Object.values(value)) waiting.push(each);
  }
  return false;
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    // the validator says so
    return undefined;
  }
}

/** A POST that needs to say nothing need not send an empty object for that. */
export const mayHaveNoBody = ({ method, body }: DefinedRoute<never>["spec"]): boolean =>
  method === "POST" && body?.safeParse({}).success === true;

/**
 * Takes no body for an empty object, whatever type it is declared as; a body that is there must be JSON.
 * @throws ApiError 415 UNSUPPORTED_MEDIA_TYPE
 */
export async function admitNoBody(req: HonoRequest): Promise<void> {
  if ((await req.text()) === "") req.raw.headers.delete("content-type");
  else if (!/^application\/([\w.-]+\+)?json\b/i.test(req.header("content-type") ?? "")) throw notDeclaredAsJson();
}

/**
 * The paths of strings that JSON allows and PostgreSQL does not store: with NUL, or a surrogate without its other half.
 * The schema that `value` has passed bounds the recursion.
 */
export function unstorablePaths(value: unknown, path: readonly PropertyKey[] = []): PropertyKey[][] {
  if (typeof value === "string") return isStorable(value) ? [] : [[...path]];
  if (Array.isArray(value)) return value.flatMap((item, index) => unstorablePaths(item, [...path, index]));
  // dates and the like come from the schema, not from the caller
  if (typeof value !== "object" || value === null || Object.getPrototypeOf(value) !== Object.prototype) return [];
  return Object.entries(value).flatMap(([name, item]) => [
    ...unstorablePaths(name, [...path, name]),
    ...unstorablePaths(item, [...path, name]),
  ]);
}
