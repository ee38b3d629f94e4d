/** The three calls of ECS that tasks need, by its JSON protocol: its client would be larger than all that uses it. */
import { SignatureV4 } from "@smithy/signature-v4";
import { PermanentError, RetryableError } from "../errors.ts";
import { embeddedCredentials } from "./clients.ts";
import { environmentCredentials } from "./environment-credentials.ts";
import { Sha256 } from "./sha256.ts";

export interface Ecs {
  /** @throws PermanentError with the code of ECS; RetryableError where another try may help */
  call(operation: "RunTask" | "StopTask" | "ListTasks", input: unknown): Promise<Record<string, unknown>>;
}

const TIMEOUT_MS = 10_000;
const TARGET = "AmazonEC2ContainerServiceV20141113";

export function createEcs(env: Readonly<Record<string, string | undefined>> = process.env): Ecs {
  const { AWS_REGION: region = "", AWS_ENDPOINT_URL_ECS: endpoint } = env;
  const url = new URL(endpoint ?? `https://ecs.${region}.amazonaws.com/`);
  const signer = new SignatureV4({
    service: "ecs",
    region,
    sha256: Sha256,
    credentials: embeddedCredentials("ecs", env).credentials ?? environmentCredentials(env),
  });
  return {
    async call(operation, input) {
      const body = JSON.stringify(input);
      const request = {
        method: "POST",
        protocol: url.protocol,
        hostname: url.hostname,
        path: "/",
        query: {},
        headers: {
          host: url.host,
          "content-type": "application/x-amz-json-1.1",
          "x-amz-target": `${TARGET}.${operation}`,
        },
        body,
      };
      const { headers } = await signer.sign(request);
      const { host: _, ...sent } = headers;
      const signal = AbortSignal.timeout(TIMEOUT_MS);
      const response = await fetch(url, { method: "POST", headers: sent, body, signal }).catch((cause: unknown) => {
        throw new RetryableError(`ECS does not answer ${operation}`, { code: "ECS_UNREACHABLE", cause });
      });
      const answer = (await response.json().catch(() => ({}))) as Record<string, unknown>;
      if (response.ok) return answer;
      const code = String(answer["__type"] ?? response.status).replace(/^.*#/, "");
      const message =
        `ECS refuses ${operation}: ${code} ${String(answer["message"] ?? answer["Message"] ?? "")}`.trim();
      if (response.status >= 500 || /Throttl/.test(code)) throw new RetryableError(message, { code: "ECS_BUSY" });
      throw new PermanentError(message, { code: "ECS_REFUSED" });
    },
  };
}
