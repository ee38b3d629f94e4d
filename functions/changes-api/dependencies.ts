/** What the changes API needs, built once per container. */
import { once } from "../../shared/platform/once.ts";
import { type ApiContainer, createApiContainer } from "../adapters/api/container.ts";

export type ChangesApi = ApiContainer;

export const changesApi = once((): ChangesApi => createApiContainer("changes-api"));
