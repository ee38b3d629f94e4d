/** States the answers of operations by their status, where it is known which can be, and shares what is the same. */
import { STATUS_CODES } from "node:http";
import { isObject, type Json, type JsonObject } from "./json.ts";
import { pascal } from "./schemas.ts";

const SAID: Readonly<Record<string, string>> = {
  400: "The request is not valid: `VALIDATION_ERROR` names every fault, other codes say more",
  401: "No valid API key was presented",
  403: "The key lacks the scope of the route, or what is asked for is refused",
  404: "There is nothing with this id, or something that the request names is not there",
  405: "The path is there, but not for this method",
  406: "The Accept header allows none of the media types that there are",
  409: "What is asked for does not go with what is there, or the Idempotency-Key was sent with another request",
  410: "It was there, and is kept no longer",
  413: "The request body is over the limit of 6 MB, or what it holds is more than can be worked on",
  414: "The URL is longer than 8,192 characters",
  415: "The request body is not declared as `application/json`, or what it holds is of no type that is taken",
  416: "The range asks for nothing that is there: `Content-Range` tells the length",
  422: "What the request asks for cannot be done with what is there: the code says why",
  429: "Too many requests: `Retry-After` says when to try again",
  451: "Who runs the archive has excluded the URL from its readers",
  500: "Something failed on our side: the log has the details under the request id",
  502: "The site, or a provider, did not answer as it should: the code says how",
  503: "A service behind this one does not answer: `Retry-After` says when to try again",
  504: "The page was not done in time",
};

/** What an operation says of itself. */
interface Known {
  isPublic: boolean;
  /** Its answer is sent piece by piece: nothing limits it. */
  isStreamed: boolean;
  body?: JsonObject | undefined;
  parameters: readonly JsonObject[];
  responses: JsonObject;
  /** What its code throws, each as `409 CONFLICT`. */
  thrown: readonly string[];
}

/**
 * The codes of the errors that an operation may answer, by status: those of what it takes, and those that its code
 * throws. What any service behind it may add to them has status 503.
 */
export function errorCodes(known: Known): Record<string, string[]> {
  const { isPublic, isStreamed, body, parameters, responses, thrown } = known;
  const described = responses["default"] ?? {};
  const isArchive = familyOf(described) === "Archive";
  const isReading = isObject(described) && isObject(described["headers"]) && "x-api-version" in described["headers"];
  const ids = parameters.filter((each) => each["in"] === "path" && isNarrow(each["schema"]));
  const codes = [
    "400 VALIDATION_ERROR",
    ...(isStreamed ? [] : ["400 RESULT_TOO_LARGE"]),
    ...(isPublic ? [] : ["401 AUTH_REQUIRED", "403 FORBIDDEN", "429 RATE_LIMITED"]),
    ...(ids.length > 0 ? ["404 NOT_FOUND"] : []),
    ...(parameters.some((each) => each["in"] === "header")
      ? ["400 IDEMPOTENCY_KEY_INVALID", "409 IDEMPOTENCY_KEY_REUSED", "409 IDEMPOTENCY_IN_PROGRESS"]
      : []),
    ...(body === undefined ? [] : ["413 PAYLOAD_TOO_LARGE", "415 UNSUPPORTED_MEDIA_TYPE"]),
    ...(isReading ? ["414 URI_TOO_LONG"] : []),
    ...["500 INTERNAL_ERROR", "503 SERVICE_UNAVAILABLE"],
    ...thrown,
  ].map((each) => (isArchive ? each.replace("400 VALIDATION_ERROR", "422 VALIDATION_ERROR") : each));
  const byStatus: Record<string, string[]> = {};
  for (const each of [...new Set(codes)].toSorted()) {
    const [status = "", code = ""] = each.split(" ");
    byStatus[status] = [...(byStatus[status] ?? []), code];
  }
  return byStatus;
}

/** Whether there are texts that a parameter cannot be. */
const isNarrow = (schema: Json | undefined): boolean =>
  !isObject(schema) || Object.keys(schema).some((name) => !["type", "description"].includes(name));

/**
 * Adds to the responses of an operation those of each error status, which are like its `default`.
 * @param responses replaced in place
 */
export function stateErrors(responses: JsonObject, statuses: readonly string[]): void {
  const error = responses["default"];
  if (!isObject(error)) throw new Error("An operation says nothing of its errors");
  delete responses["default"];
  for (const status of statuses) {
    if (responses[status] !== undefined) continue;
    responses[status] = { ...error, description: SAID[status] ?? STATUS_CODES[status] ?? status };
  }
  responses["default"] = { ...error, description: "Another error" };
}

/**
 * Makes a component of the commonest error response of each status and family; what bears headers of its own stays with
 * its operation.
 * @returns the components
 */
export function shareErrors(allResponses: readonly JsonObject[]): Record<string, Json> {
  const found = new Map<string, { status: string; response: JsonObject; holders: JsonObject[] }>();
  for (const responses of allResponses) {
    for (const [status, response] of Object.entries(responses)) {
      if (status !== "default" && Number(status) < 400) continue;
      if (!isObject(response)) continue;
      const text = JSON.stringify([status, response]);
      const entry = found.get(text) ?? { status, response, holders: [] };
      entry.holders.push(responses);
      found.set(text, entry);
    }
  }
  const components: Record<string, Json> = {};
  const byUse = [...found.values()]
    .filter(({ holders }) => holders.length > 1)
    .toSorted((a, b) => b.holders.length - a.holders.length);
  for (const { status, response, holders } of byUse) {
    const name = pascal(`${familyOf(response)} ${status === "default" ? "Error" : STATUS_CODES[status]}`);
    if (components[name] !== undefined) continue;
    components[name] = response;
    for (const holder of holders) holder[status] = { $ref: `#/components/responses/${name}` };
  }
  return Object.fromEntries(Object.entries(components).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

/** `Archive`, `Spider` and `Harvest` have errors of their own shape. */
function familyOf(response: Json): string {
  return /"#\/components\/schemas\/(Archive|Spider|Harvest)ErrorResponse"/.exec(JSON.stringify(response))?.[1] ?? "";
}

/**
 * Makes components of the headers that answers must bear.
 * @returns them by name
 */
export function shareHeaders(allResponses: readonly JsonObject[]): Record<string, Json> {
  const components: Record<string, Json> = {};
  for (const response of allResponses.flatMap((responses) => Object.values(responses))) {
    if (!isObject(response) || !isObject(response["headers"])) continue;
    for (const [name, header] of Object.entries(response["headers"])) {
      if (!isObject(header) || header["required"] !== true) continue;
      components[`${name}-always`] = header;
      response["headers"][name] = { $ref: `#/components/headers/${name}-always` };
    }
  }
  return components;
}
