/** What the archive's exports need, built once per container. */
import { once } from "../../shared/platform/once.ts";
import { type ApiContainer, createApiContainer } from "../adapters/api/container.ts";
import { withReaders } from "../adapters/archive/counted-readers.ts";

export type ArchiveExportsApi = ApiContainer;

export const archiveExportsApi = once((): ArchiveExportsApi => withReaders(createApiContainer("archive-exports-api")));
