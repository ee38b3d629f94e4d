/** What the extraction API needs, built once per container. */
import { once } from "../../shared/platform/once.ts";
import { type AnsweringContainer, createAnsweringContainer } from "../adapters/api/answering-container.ts";

export type ExtractApi = AnsweringContainer;

export const extractApi = once((): ExtractApi => createAnsweringContainer("extract-api"));
