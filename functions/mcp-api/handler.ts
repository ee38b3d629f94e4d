/**
 * The Model Context Protocol by streamable HTTP, without sessions: each request has a server of its own, and is
 * answered whole.
 */
import {
  createMcpHandler,
  isLegacyRequest,
  type McpServer,
  WebStandardStreamableHTTPServerTransport,
} from "@modelcontextprotocol/server";
import { z } from "zod";
import { createMcpServer } from "../../shared/mcp/server.ts";
import { ApiError } from "../../shared/platform/errors.ts";
import { once } from "../../shared/platform/once.ts";
import { createApi } from "../adapters/api/api.ts";
import { presentedKey } from "../adapters/api/presented-key.ts";
import { ApiResponse, defineRoute } from "../adapters/api/route.ts";
import { defineStreamRoute } from "../adapters/api/stream-route.ts";
import { askWithKey } from "./api-client.ts";
import { type McpApi, mcpDependencies } from "./dependencies.ts";

/** Of the protocol, as its server tells it. */
const VERSION = "1";
/** What the protocol's transport reads of a request. */
const READ_HEADERS = ["accept", "mcp-protocol-version", "mcp-method", "mcp-name", "mcp-session-id"];
/** In one request. */
const MOST_MESSAGES = 20;

const message = z.looseObject({}).openapi("McpMessage");

const exchange = defineStreamRoute(
  {
    method: "POST",
    path: "/mcp",
    scope: "read",
    limited: true,
    summary: "A message of the Model Context Protocol, and its answer",
    body: z.union([message, z.array(message).min(1).max(MOST_MESSAGES)]),
    response: z.union([message, z.array(message)]),
    otherwise: {
      202: "A notification, which has no answer",
      400: "An error of the protocol: what was sent is no message of it",
      406: "An error of the protocol: the client does not accept what it is answered with",
    },
  },
  async ({ body, header, signal }, { apiUrl }: McpApi) => {
    const key = presentedKey(header) ?? "";
    const newServer = () => createMcpServer(askWithKey(apiUrl, key, signal), VERSION);
    const asked = () =>
      new Request("https://mcp.invalid/mcp", {
        method: "POST",
        headers: { ...headersOf(header), "content-type": "application/json" },
        body: JSON.stringify(body),
      });
    const ofSessions = await isLegacyRequest(asked(), body);
    const serve = ofSessions ? serveWithoutSession : serveAlone;
    const response = await serve(newServer, asked(), body);
    const text = await response.text();
    return new ApiResponse(response.status as 200, text === "" ? null : JSON.parse(text));
  },
);

type Serve = (newServer: () => McpServer, request: Request, parsedBody: unknown) => Promise<Response>;

/** Clients of the protocol as it has been since 2026: each of their requests stands for itself. */
const serveAlone: Serve = async (newServer, request, parsedBody) =>
  await createMcpHandler(newServer, { legacy: "reject", maxSubscriptions: 0 }).fetch(request, { parsedBody });

/** Clients of before, who would be given a session. */
const serveWithoutSession: Serve = async (newServer, request, parsedBody) => {
  const server = newServer();
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
  await server.connect(transport);
  try {
    return await transport.handleRequest(request, { parsedBody });
  } finally {
    await server.close();
  }
};

const headersOf = (header: (name: string) => string | undefined): Record<string, string> =>
  Object.fromEntries(
    READ_HEADERS.flatMap((name) => {
      const value = header(name);
      return value === undefined ? [] : [[name, value] as const];
    }),
  );

const listen = defineRoute(
  {
    method: "GET",
    path: "/mcp",
    scope: "read",
    limited: true,
    summary: "No stream is offered: 405",
    response: z.never(),
    headers: { allow: "What the path takes" },
  },
  async (_, __: McpApi) => {
    throw new ApiError(405, "Messages are answered one by one: send them with POST", {
      code: "METHOD_NOT_ALLOWED",
      headers: { allow: "POST" },
    });
  },
);

export const api = createApi("mcp-api", [exchange, listen], once(mcpDependencies));
export const handler = api.handler;
