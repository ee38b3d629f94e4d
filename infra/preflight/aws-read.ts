/**
 * Reads from AWS, signed, by the protocols of its services. Clients of five more services would be installed for one
 * call each; what signs and finds credentials is there already.
 */
import { SQSClient } from "@aws-sdk/client-sqs";
import { SignatureV4 } from "@smithy/signature-v4";
import { Sha256 } from "../../shared/platform/aws/sha256.ts";

export interface AwsReader {
  region: string;
  /** Calls of services that speak JSON, e.g. `ServiceQuotasV20190624.GetServiceQuota`. */
  json(service: string, target: string, input: unknown): Promise<unknown>;
  /** Calls of services that speak forms and XML; the answer as it is. */
  query(service: string, version: string, action: string, input?: Record<string, string>): Promise<string>;
  /** A GET of a service that speaks REST. */
  rest(service: string, path: string): Promise<unknown>;
}

/** What AWS says where it does not answer with what was asked for. */
export class AwsRefusal extends Error {
  /** As AWS names it, e.g. `AccessDenied`. */
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.name = "AwsRefusal";
    this.code = code;
  }
}

const TIMEOUT_MS = 15_000;

/**
 * A reader for the account and region of the shell, found as the AWS CLI finds them.
 * @throws Error where there are no credentials, or no region
 */
export async function createAwsReader(env: Readonly<Record<string, string | undefined>>): Promise<AwsReader> {
  const { config } = new SQSClient({});
  const region = await config.region();
  const credentials = await config.credentials();

  const send = async (
    service: string,
    request: { method: string; path: string; type?: string; target?: string; body?: string },
  ) => {
    const url = new URL(request.path, endpointOf(service, region, env));
    const headers: Record<string, string> = {
      host: url.host,
      ...(request.type === undefined ? {} : { "content-type": request.type }),
      ...(request.target === undefined ? {} : { "x-amz-target": request.target }),
    };
    const { method, body } = request;
    const signer = new SignatureV4({ service, region, sha256: Sha256, credentials });
    const unsigned = { method, protocol: url.protocol, hostname: url.hostname, path: url.pathname, query: {}, headers };
    const signed = await signer.sign(body === undefined ? unsigned : { ...unsigned, body });
    const { host: _, ...sent } = signed.headers;
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    const answer = await fetch(url, { method, headers: sent, signal, ...(body === undefined ? {} : { body }) });
    const text = await answer.text();
    if (!answer.ok) throw refusalOf(service, answer.status, text);
    return text;
  };

  return {
    region,
    json: async (service, target, input) =>
      JSON.parse(
        await send(service, {
          method: "POST",
          path: "/",
          type: "application/x-amz-json-1.1",
          target,
          body: JSON.stringify(input),
        }),
      ),
    query: (service, version, action, input = {}) =>
      send(service, {
        method: "POST",
        path: "/",
        type: "application/x-www-form-urlencoded; charset=utf-8",
        body: new URLSearchParams({ Action: action, Version: version, ...input }).toString(),
      }),
    rest: async (service, path) => JSON.parse(await send(service, { method: "GET", path })),
  };
}

/** `AWS_ENDPOINT_URL` and `AWS_ENDPOINT_URL_SERVICE` hold, as for AWS's own tools. */
function endpointOf(service: string, region: string, env: Readonly<Record<string, string | undefined>>): string {
  const own = env[`AWS_ENDPOINT_URL_${service.toUpperCase()}`] ?? env["AWS_ENDPOINT_URL"];
  return own ?? `https://${service}.${region}.amazonaws.com/`;
}

/** JSON services name the code in `__type`, forms in `<Code>`. */
function refusalOf(service: string, status: number, text: string): AwsRefusal {
  const code = /"__type"\s*:\s*"(?:[^"]*#)?([^"]+)"/.exec(text)?.[1] ?? /<Code>([^<]+)</.exec(text)?.[1] ?? `${status}`;
  const said = /"[mM]essage"\s*:\s*"([^"]*)"/.exec(text)?.[1] ?? /<Message>([^<]*)</.exec(text)?.[1] ?? "";
  return new AwsRefusal(code, `${service} answers ${status} ${code}${said === "" ? "" : `: ${said}`}`);
}
