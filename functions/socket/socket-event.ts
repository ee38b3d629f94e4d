/**
 * The events of a WebSocket connection as API Gateway sends them, and how the client names itself and the job it
 * listens to.
 */
import { z } from "zod";
import { presentedKey } from "../adapters/api/presented-key.ts";

export const socketEventSchema = z.object({
  requestContext: z.object({
    routeKey: z.enum(["$connect", "$default", "$disconnect"]),
    connectionId: z.string().min(1),
    requestId: z.string().optional(),
    identity: z.object({ sourceIp: z.string().optional() }).optional(),
  }),
  /** Of `$connect` only. */
  headers: z.record(z.string(), z.string()).nullish(),
  queryStringParameters: z.record(z.string(), z.string()).nullish(),
  body: z.string().nullish(),
});
export type SocketEvent = z.infer<typeof socketEventSchema>;

export interface SocketResponse {
  statusCode: number;
  headers?: Record<string, string>;
  body?: string;
}

/** The protocol that this API speaks, where the client names any. */
const SUBPROTOCOL = "strandline";
/** Before the key. A browser can set no header of a WebSocket but this list; a key in the URL would end up in logs. */
const KEY_PROTOCOL = "strandline.key.";

/** The key of a `$connect`: in the headers of every other request, or among the subprotocols. */
export function socketKey(event: SocketEvent): string | undefined {
  const key = presentedKey((name) => headerOf(event, name));
  if (key !== undefined) return key;
  return subprotocols(event)
    .find((protocol) => protocol.startsWith(KEY_PROTOCOL))
    ?.slice(KEY_PROTOCOL.length);
}

/** A client that names subprotocols expects one of them in the response; the key is never repeated. */
export function acceptedSubprotocol(event: SocketEvent): Record<string, string> {
  return subprotocols(event).includes(SUBPROTOCOL) ? { "Sec-WebSocket-Protocol": SUBPROTOCOL } : {};
}

function subprotocols(event: SocketEvent): string[] {
  return (headerOf(event, "sec-websocket-protocol") ?? "").split(",").map((each) => each.trim());
}

function headerOf({ headers }: SocketEvent, name: string): string | undefined {
  return Object.entries(headers ?? {}).find(([each]) => each.toLowerCase() === name)?.[1];
}
