/** What the archive's search needs, built once per container. */
import { once } from "../../shared/platform/once.ts";
import { type ApiContainer, createApiContainer } from "../adapters/api/container.ts";

export type ArchiveSearchApi = ApiContainer;

export const archiveSearchApi = once((): ArchiveSearchApi => createApiContainer("archive-search-api"));
