declare module "dynalite" {
  import type { Server } from "node:http";

  /** @param options.path folder of the LevelDB store; in memory where it is not given */
  export default function dynalite(options?: {
    path?: string;
    createTableMs?: number;
    deleteTableMs?: number;
    updateTableMs?: number;
  }): Server;
}
