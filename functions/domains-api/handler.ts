/** Settings and circuit of each domain, the caches, and what became of everything so far. */
import { createApi } from "../adapters/api/api.ts";
import { cacheStats, clearCrawl, clearDomain, clearEmbeddings, clearQueries } from "./caches.ts";
import { domainsApi } from "./dependencies.ts";
import { block, list, resetCircuit, show, unblock, update } from "./domains.ts";
import { domainStats, systemStats } from "./stats.ts";

export const api = createApi(
  "domains-api",
  [
    list,
    show,
    update,
    block,
    unblock,
    resetCircuit,
    clearCrawl,
    clearQueries,
    clearEmbeddings,
    clearDomain,
    cacheStats,
    systemStats,
    domainStats,
  ],
  domainsApi,
);
export const handler = api.handler;
