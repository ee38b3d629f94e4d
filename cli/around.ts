/** What the command line gives to those who add commands to it. */
import type { Command, Option } from "commander";
import type { ApiClient } from "./api-client.ts";
import type { Terminal } from "./terminal.ts";

export interface Around {
  /** Runs a command against the API; its exit code is what the command answers. */
  withApi(command: Command, run: (api: ApiClient) => Promise<number>): Promise<void>;
  terminal: Terminal;
  json(): Option;
  /** @param value where none is given */
  limit(value: number): Option;
  /** Collects an option that may be given several times. */
  repeated(text: string, before: string[] | undefined): string[];
  /** @throws InvalidArgumentError where it is no whole number */
  count(text: string): number;
}
