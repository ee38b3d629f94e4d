/** `chunk-size` shown, changed for all documents, paused and gone on with. */
import type { ApiClient } from "../api-client.ts";
import { EXIT } from "../exit.ts";
import type { Terminal } from "../terminal.ts";

interface ChunkSizes {
  items: {
    chunk_size: number | null;
    state: string;
    paused: boolean;
    changed_at: string;
    documents: number;
    uncut: number;
    chunks: number;
    waiting: number;
  }[];
}

interface JsonOption {
  json?: true;
}

export async function listChunkSizes(api: ApiClient, terminal: Terminal, options: JsonOption): Promise<number> {
  return print(terminal, await api<ChunkSizes>("GET", "/api/v1/documents/chunk-sizes"), options);
}

/** @param size in tokens; null: each document by the settings that it was crawled or uploaded with */
export async function useChunkSize(
  api: ApiClient,
  terminal: Terminal,
  size: number | null,
  options: JsonOption,
): Promise<number> {
  return print(terminal, await api<ChunkSizes>("POST", "/api/v1/documents/chunk-sizes", { chunk_size: size }), options);
}

export async function pauseChunkSize(
  api: ApiClient,
  terminal: Terminal,
  paused: boolean,
  options: JsonOption,
): Promise<number> {
  return print(terminal, await api<ChunkSizes>("POST", "/api/v1/documents/chunk-sizes", { paused }), options);
}

function print(terminal: Terminal, sizes: ChunkSizes, { json }: JsonOption): number {
  if (json) terminal.line(JSON.stringify(sizes, null, 2));
  else {
    for (const { chunk_size, state, paused, changed_at, documents, uncut, chunks, waiting } of sizes.items) {
      const name = chunk_size === null ? "as crawled" : `${chunk_size} tokens`;
      const counts = `${documents} documents, ${uncut} to cut, ${chunks} chunks, ${waiting} waiting`;
      terminal.line(`${(paused ? "paused" : state).padEnd(7)}  ${changed_at.slice(0, 16)}  ${name}: ${counts}`);
    }
  }
  return EXIT.done;
}
