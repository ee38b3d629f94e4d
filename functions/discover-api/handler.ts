/** Takes discovery jobs, shows the URLs that they found, scores URLs. */
import { createApi } from "../adapters/api/api.ts";
import { discoverApi } from "./dependencies.ts";
import { showDiscovery, startDiscovery } from "./jobs.ts";
import { scoreUrls } from "./score.ts";

export const api = createApi("discover-api", [startDiscovery, scoreUrls, showDiscovery], discoverApi);
export const handler = api.handler;
