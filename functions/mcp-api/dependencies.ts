/** What the door for language models needs: it has no database, and asks the API who presents a key. */

import { isWellFormedKey } from "../../shared/access/api-keys.ts";
import { type Gate, includesScope, keyRequired, outOfReach, scopeLacking } from "../../shared/access/authorize.ts";
import { loadConfig } from "../../shared/platform/config.ts";
import { createLogger } from "../../shared/platform/observability/log.ts";
import type { ApiDependencies } from "../adapters/api/route.ts";
import { readOwnKey } from "./api-client.ts";

export interface McpApi extends ApiDependencies {
  apiUrl: string;
}

export function mcpDependencies(): McpApi {
  const { apiUrl, logLevel } = loadConfig();
  return { apiUrl, log: createLogger({ function: "mcp-api" }, logLevel), gate: createRemoteGate(apiUrl) };
}

const createRemoteGate = (apiUrl: string): Gate => ({
  async admit(presented, scope, { limited = false } = {}) {
    if (presented === undefined || !isWellFormedKey(presented)) throw keyRequired();
    const admitted = await readOwnKey(apiUrl, presented);
    if (!includesScope(admitted.caller.scopes, scope)) throw scopeLacking(scope, admitted.caller.scopes);
    if (admitted.caller.collectionIds !== null && !limited) throw outOfReach();
    return admitted;
  },
  // no answer of this function is a stream that a revoked key could go on with
  async stillAdmits() {
    return false;
  },
});
