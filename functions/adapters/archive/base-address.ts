/** Where clients reach the API: of the request that is under way. */
import type { APIGatewayProxyEvent } from "aws-lambda";

/** The address under which clients reach the API, with the stage that API Gateway puts before paths. */
export function baseOf(event: APIGatewayProxyEvent | undefined): string {
  const header = (name: string) =>
    Object.entries(event?.headers ?? {}).find(([each]) => each.toLowerCase() === name)?.[1];
  const scheme = header("x-forwarded-proto") === "https" ? "https" : "http";
  // the root of a stage may be asked for without its slash
  const [path = "", whole = ""] = [event?.path, event?.requestContext?.path].map((each) => each?.replace(/\/+$/, ""));
  const stage = whole.endsWith(path) ? whole.slice(0, whole.length - path.length) : "";
  return `${scheme}://${header("host") ?? "localhost"}${stage}`;
}
