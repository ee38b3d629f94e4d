/** API Gateway's management API of WebSocket connections; the endpoint is AWS_ENDPOINT_URL_APIGATEWAYMANAGEMENTAPI. */
import {
  ApiGatewayManagementApiClient,
  DeleteConnectionCommand,
  PostToConnectionCommand,
} from "@aws-sdk/client-apigatewaymanagementapi";
import { embeddedCredentials } from "../platform/aws/clients.ts";
import type { Sockets } from "./push-event.ts";

const CONNECT_TIMEOUT_MS = 2_000;
const ANSWER_TIMEOUT_MS = 3_000;

export function createSockets(): Sockets {
  const client = createClient(2, true);
  // a connection that was kept open may have been closed by the other side: then nobody knows whether the event has
  // left
  const onceClient = createClient(1, false);
  return {
    async post(ConnectionId, body, delivery) {
      const Data = Buffer.from(body);
      try {
        const sender = delivery === "at most once" ? onceClient : client;
        await sender.send(new PostToConnectionCommand({ ConnectionId, Data }));
        return "sent";
      } catch (error) {
        if (named(error, "GoneException")) return "gone";
        if (named(error, "LimitExceededException")) return "refused";
        throw error;
      }
    },
    async close(ConnectionId) {
      try {
        await client.send(new DeleteConnectionCommand({ ConnectionId }));
      } catch (error) {
        if (!named(error, "GoneException")) throw error;
      }
    },
  };
}

function createClient(maxAttempts: number, keepAlive: boolean): ApiGatewayManagementApiClient {
  return new ApiGatewayManagementApiClient({
    maxAttempts,
    ...embeddedCredentials("execute-api"),
    requestHandler: {
      connectionTimeout: CONNECT_TIMEOUT_MS,
      requestTimeout: ANSWER_TIMEOUT_MS,
      throwOnRequestTimeout: true,
      httpAgent: { keepAlive },
      httpsAgent: { keepAlive },
    },
  });
}

const named = (error: unknown, name: string): boolean => error instanceof Error && error.name === name;
