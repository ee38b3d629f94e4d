/** What the archive's search needs, built once per container. */
import { once } from "../../shared/platform/once.ts";
import { type ApiContainer, createApiContainer } from "../adapters/api/container.ts";
import { withReaders } from "../adapters/archive/counted-readers.ts";

export type ArchiveSearchApi = ApiContainer;

export const archiveSearchApi = once((): ArchiveSearchApi => withReaders(createApiContainer("archive-search-api")));
