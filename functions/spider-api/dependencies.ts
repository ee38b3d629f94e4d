/** What the spider's API needs, built once per container. */
import { once } from "../../shared/platform/once.ts";
import { type AnsweringContainer, createAnsweringContainer } from "../adapters/api/answering-container.ts";

export type SpiderApi = AnsweringContainer;

export const spiderApi = once((): SpiderApi => createAnsweringContainer("spider-api"));
