/** The gate before the rehearsal's database, in a process of its own: gate.ts FOLDER_OF_CERTIFICATES USER */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { CREDENTIALS, PORTS } from "./machine.ts";
import { startTokenGate } from "./token-gate.ts";

const [, , tls = "", user = ""] = process.argv;

await startTokenGate({
  port: PORTS.database,
  tls: {
    key: readFileSync(join(tls, "server.key"), "utf8"),
    cert: readFileSync(join(tls, "server.crt"), "utf8"),
  },
  upstreamPort: PORTS.postgres,
  user,
  hostname: "localhost",
  region: CREDENTIALS.AWS_REGION,
  judged: (fault) => process.stdout.write(`${new Date().toISOString()} ${fault ?? "a token"}\n`),
});
