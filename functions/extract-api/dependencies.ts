/** What the extraction API needs, built once per container. */
import { once } from "../../shared/platform/once.ts";
import { createResultContainer, type ResultContainer } from "../adapters/api/container.ts";

export type ExtractApi = ResultContainer;

export const extractApi = once((): ExtractApi => createResultContainer("extract-api"));
