/** The API over HTTP, in this process: the real handlers behind the routes of the topology. */
import { createServer } from "node:http";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import type { APIGatewayProxyEvent, Context } from "aws-lambda";
import type { Api } from "../../../functions/adapters/api/api.ts";
import type { StreamApi } from "../../../functions/adapters/api/stream-api.ts";
import { TOPOLOGY } from "../../../infra/topology.ts";
import { proxyEvent, readProxyAnswer } from "../../../local/gateway/http-event.ts";
import { compileRoutes } from "../../../local/gateway/http-routes.ts";
import { callApi } from "../../services/api.ts";

export interface ApiServer {
  url: string;
  close(): Promise<void>;
}

export async function startApiServer(): Promise<ApiServer> {
  const match = compileRoutes(TOPOLOGY);
  const server = createServer(async (request, response) => {
    const url = new URL(request.url ?? "/", "http://api.test");
    const route = match(request.method ?? "GET", url.pathname);
    if (route === undefined || !("spec" in route)) return response.writeHead(404).end();
    const sent = await buffer(request);
    const event = proxyEvent({ request, url, body: sent, requestId: "cli-test", time: 0 }, route);
    const file = join(import.meta.dirname, "../../../functions", route.spec.name, "handler.ts");
    const { handler, api } = (await import(file)) as Pick<Api, "handler"> & { api: Api | StreamApi };
    if ("streaming" in api) {
      const { authorization: Authorization = "", "content-type": type = "" } = request.headers;
      const headers = { Authorization, "Content-Type": type };
      const { method = "GET", url: path = "/" } = request;
      const { status, body } = await callApi(api, {
        method,
        path,
        headers,
        ...(sent.length > 0 && { body: `${sent}` }),
      });
      return response.writeHead(status).end(typeof body === "string" ? body : JSON.stringify(body));
    }
    const answer = readProxyAnswer(await handler(event as unknown as APIGatewayProxyEvent, {} as Context));
    if (answer === undefined) return response.writeHead(502).end();
    for (const [name, values] of answer.headers) response.setHeader(name, values);
    return response.writeHead(answer.status).end(answer.body);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the server has no port");
  return {
    url: `http://127.0.0.1:${address.port}`,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
