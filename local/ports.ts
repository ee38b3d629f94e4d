/** Ports on loopback. */
import { createServer } from "node:net";

/** The wanted port if nobody listens there, else any free one. */
export async function freePort(wanted = 0): Promise<number> {
  return (await probe(wanted)) ?? (await probe(0)) ?? Promise.reject(new Error("No port is free on 127.0.0.1"));
}

function probe(port: number): Promise<number | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(undefined));
    server.listen({ port, host: "127.0.0.1", exclusive: true }, () => {
      const address = server.address();
      server.close(() => resolve(typeof address === "object" && address ? address.port : undefined));
    });
  });
}
