/** `models` listed, a change of them paused, gone on with, and gone back from. */
import type { ApiClient } from "../api-client.ts";
import { EXIT } from "../exit.ts";
import { harmless, type Terminal } from "../terminal.ts";

interface Models {
  items: {
    model: string;
    dimension: number;
    state: string;
    paused: boolean;
    changed_at: string;
    chunks: number;
    waiting: number;
  }[];
}

interface JsonOption {
  json?: true;
}

export async function listModels(api: ApiClient, terminal: Terminal, options: JsonOption): Promise<number> {
  return print(terminal, await api<Models>("GET", "/api/v1/embedding-models"), options);
}

export async function pauseModels(
  api: ApiClient,
  terminal: Terminal,
  paused: boolean,
  options: JsonOption,
): Promise<number> {
  return print(terminal, await api<Models>("POST", "/api/v1/embedding-models", { paused }), options);
}

/** @param dimension as it was typed */
export async function goBack(
  api: ApiClient,
  terminal: Terminal,
  [model, dimension]: readonly [string, string],
  options: JsonOption,
): Promise<number> {
  const serving = { model, dimension: Number(dimension) };
  return print(terminal, await api<Models>("POST", "/api/v1/embedding-models", { serving }), options);
}

function print(terminal: Terminal, models: Models, { json }: JsonOption): number {
  if (json) terminal.line(JSON.stringify(models, null, 2));
  else {
    for (const { model, dimension, state, paused, changed_at, chunks, waiting } of models.items) {
      const how = paused ? "paused" : state;
      const counts = `${chunks} chunks, ${waiting} waiting`;
      const line = `${how.padEnd(7)}  ${changed_at.slice(0, 16)}  ${counts}  ${model} ${dimension}`;
      terminal.line(harmless(line));
    }
  }
  return EXIT.done;
}
