/** What every function that asks web sites does alike: how long it waits for them, and which hosts it leaves alone. */
import type { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import { createHostStates, type HostStates } from "../../../shared/crawl/politeness/host-state.ts";
import { CIRCUIT } from "../../../shared/crawl/politeness/metrics.ts";
import type { Config } from "../../../shared/platform/config.ts";
import type { Logger } from "../../../shared/platform/observability/log.ts";

/** Bytes of response headers; more is an error. */
const MAX_HEADER_BYTES = 64 * 1024;

/** Of a dispatcher of the URL guard; times in ms. */
export function connectionLimits({ connectTimeoutMs, headersTimeoutMs, bodyIdleTimeoutMs }: Config) {
  return {
    connectTimeoutMs,
    headersTimeout: headersTimeoutMs,
    bodyTimeout: bodyIdleTimeoutMs,
    maxHeaderSize: MAX_HEADER_BYTES,
  };
}

/** Host states that go by the circuit settings of the deployment. */
export function configuredHostStates(config: Config, dynamo: DynamoDBDocumentClient, log: Logger): HostStates {
  const circuit = { threshold: config.circuitThreshold, timeoutS: config.circuitTimeoutS };
  return createHostStates(dynamo, config.stateTable, Date.now, circuit, (host) =>
    log.measure("a host failed too often in a row: it is left alone", {
      host,
      ...CIRCUIT.fields({}, { openings: 1 }, Date.now()),
    }),
  );
}
