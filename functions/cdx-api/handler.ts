/** The archive as other tools read it. */
import { createStreamApi } from "../adapters/api/stream-api.ts";
import { listCdx } from "./cdx.ts";
import { cdxApi } from "./dependencies.ts";

export const api = createStreamApi("cdx-api", [listCdx], cdxApi);
export const handler = api.handler;
