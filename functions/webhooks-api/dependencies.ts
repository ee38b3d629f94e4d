/** What the webhooks API needs, built once per container. */
import { once } from "../../shared/platform/once.ts";
import { createJobContainer, type JobContainer } from "../adapters/api/container.ts";

export type WebhooksApi = JobContainer;

export const webhooksApi = once((): WebhooksApi => createJobContainer("webhooks-api"));
