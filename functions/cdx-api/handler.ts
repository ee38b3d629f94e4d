/** The archive as other tools read it. */
import { headOf } from "../adapters/api/route.ts";
import { createStreamApi } from "../adapters/api/stream-api.ts";
import { listCdx } from "./cdx.ts";
import { cdxApi } from "./dependencies.ts";
import { timeGate, timeMaps } from "./memento.ts";
import { withRestOfPaths } from "./rest-of-path.ts";

const mementos = [timeGate, ...timeMaps].flatMap((route) => [route, headOf(route)]);

export const api = withRestOfPaths(createStreamApi("cdx-api", [listCdx, ...mementos], cdxApi));
export const handler = api.handler;
