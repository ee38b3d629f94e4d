/**
 * The WebSocket API: whoever connects listens to one job. The events come through the queues `progress` and `push`;
 * this only says who listens.
 */
import { z } from "zod";
import { readProgress } from "../../shared/notify/job-progress.ts";
import { ApiError } from "../../shared/platform/errors.ts";
import { toApiError } from "../adapters/api/errors.ts";
import { createInvokedHandler } from "../adapters/invoked/handler.ts";
import { type SocketApi, socketApi } from "./dependencies.ts";
import {
  acceptedSubprotocol,
  type SocketEvent,
  type SocketResponse,
  socketEventSchema,
  socketKey,
} from "./socket-event.ts";

const PING = z.object({ type: z.literal("ping") });
const PONG = { body: '{"type":"pong"}' };

export const handler = createInvokedHandler({ schema: socketEventSchema, handle: serveSocket });

async function serveSocket(event: SocketEvent): Promise<SocketResponse> {
  const { routeKey, connectionId } = event.requestContext;
  const api = socketApi();
  if (routeKey === "$connect") return await connect(api, event);
  if (routeKey === "$default") return { statusCode: 200, ...(isPing(event.body) ? PONG : {}) };
  await api.connections.forget(connectionId);
  return { statusCode: 200 };
}

/** What is refused here is refused as the HTTP status of the handshake. */
async function connect(api: SocketApi, event: SocketEvent): Promise<SocketResponse> {
  const { connectionId, requestId, identity } = event.requestContext;
  const log = api.log.with({ request_id: requestId });
  try {
    const { caller } = await api.gate.admit(socketKey(event), "read", { address: identity?.sourceIp });
    const jobId = await askedJob(api, event);
    await api.connections.open({ connectionId, jobId, keyId: caller.keyId });
    await startWatch(api, connectionId, jobId);
    log.info("a listener connected", { job_id: jobId, key_id: caller.keyId });
    return { statusCode: 200, headers: acceptedSubprotocol(event) };
  } catch (error) {
    const { status, code, headers } = toApiError(error);
    if (status >= 500) log.error("a connection failed", { code, error });
    else log.info("a connection was refused", { status, code });
    return { statusCode: status, headers };
  }
}

/** A watch that goes on already takes no notice. */
async function startWatch({ queues, connections }: SocketApi, connectionId: string, jobId: string): Promise<void> {
  try {
    await queues.send("progress", { jobId });
  } catch (error) {
    await connections.forget(connectionId);
    throw error;
  }
}

/** @throws ApiError 400 where no job is named, 404 where there is none */
async function askedJob({ sql }: SocketApi, { queryStringParameters }: SocketEvent): Promise<string> {
  const asked = queryStringParameters?.["job_id"];
  if (asked === undefined) throw new ApiError(400, "Name the job: ?job_id=…", { code: "VALIDATION_ERROR" });
  const jobId = z.uuid().safeParse(asked).data;
  if (jobId === undefined || (await readProgress(sql, jobId)) === undefined) {
    throw new ApiError(404, "There is no such job", { code: "NOT_FOUND" });
  }
  return jobId;
}

/** For clients, and proxies on their way, that want to see something move. */
function isPing(body: string | null | undefined): boolean {
  if (body === "ping") return true;
  try {
    return PING.safeParse(JSON.parse(body ?? "")).success;
  } catch {
    return false;
  }
}
