/** The port of replay, with the function behind it in this process. */
import { type ReplayGateway, startReplayGateway } from "../../../../local/gateway/replay-gateway.ts";
import type { StreamSink } from "../../../../local/lambda/invocation.ts";

export interface ReplayServer extends ReplayGateway {
  /** Status by path of all that was asked for. */
  served: Map<string, number>;
}

/** After the environment is set. */
export async function startReplayServer(): Promise<ReplayServer> {
  const { answer } = await import("../../../../functions/replay/handler.ts");
  const served = new Map<string, number>();
  const gateway = await startReplayGateway({
    port: 0,
    isOpen: () => true,
    async invoke(event: unknown, sink: StreamSink) {
      const request = event as Parameters<typeof answer>[0];
      const { status, headers, body } = await answer(request);
      served.set(`${request.rawPath}${request.rawQueryString === "" ? "" : `?${request.rawQueryString}`}`, status);
      sink.head({ statusCode: status, headers, cookies: [] });
      if (request.requestContext.http.method !== "HEAD") await sink.write(Buffer.from(body));
    },
    onFault(error) {
      throw error;
    },
  });
  return { ...gateway, served };
}
