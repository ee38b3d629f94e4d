/** States the answers of operations by their status, where it is known which can be, and shares what is the same. */
import { STATUS_CODES } from "node:http";
import { isObject, type Json, type JsonObject } from "./json.ts";
import { pascal } from "./schemas.ts";

const SAID: Readonly<Record<string, string>> = {
  400: "The request is not valid: `VALIDATION_ERROR` names every fault, other codes say more",
  401: "No valid API key was presented",
  403: "The key lacks the scope of the route, or what is asked for is refused",
  404: "There is nothing with this id",
  409: "What is asked for does not go with what is there, or the Idempotency-Key was sent with another request",
  413: "The request body is over the limit of 6 MB",
  415: "The request body is not declared as `application/json`",
  429: "Too many requests: `Retry-After` says when to try again",
  500: "Something failed on our side: the log has the details under the request id",
  503: "A service behind this one does not answer: `Retry-After` says when to try again",
};

/** What an operation says of itself. */
interface Known {
  isPublic: boolean;
  body?: JsonObject | undefined;
  parameters: readonly JsonObject[];
}

/** The statuses that an operation may answer errors with, by what it takes; others remain under `default`. */
export function errorStatuses({ isPublic, body, parameters }: Known): string[] {
  const has = (place: string) => parameters.some((each) => each["in"] === place);
  return [
    ...(body !== undefined || has("query") || has("header") ? ["400"] : []),
    ...(isPublic ? [] : ["401", "403"]),
    ...(has("path") ? ["404"] : []),
    ...(has("header") ? ["409"] : []),
    ...(body === undefined ? [] : ["413", "415"]),
    ...(isPublic ? [] : ["429"]),
    ...["500", "503"],
  ];
}

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

/** `Spider` and `Harvest` have errors of their own shape. */
function familyOf(response: JsonObject): string {
  return /"#\/components\/schemas\/(Spider|Harvest)ErrorResponse"/.exec(JSON.stringify(response))?.[1] ?? "";
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
