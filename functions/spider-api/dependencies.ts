/** What the spider's API needs, built once per container. */
import { once } from "../../shared/platform/once.ts";
import { createResultContainer, type ResultContainer } from "../adapters/api/container.ts";

export type SpiderApi = ResultContainer;

export const spiderApi = once((): SpiderApi => createResultContainer("spider-api"));
