import { DeleteConnectionCommand, PostToConnectionCommand } from "@aws-sdk/client-apigatewaymanagementapi";
import { expect, test } from "vitest";
import WebSocket from "ws";
import { testRuntime } from "../../../services/index.ts";

test("a client that does not read is told of as such, is let go, and holds up nobody", async () => {
  const { runtime, clients, seen } = await testRuntime(["socket"]);
  const socket = new WebSocket(runtime.url.replace("http", "ws"), ["chosen"]);
  await new Promise((resolve, reject) => socket.once("open", resolve).once("error", reject));
  socket.pause();
  await expect.poll(() => seen("connections")).toHaveLength(1);
  const [ConnectionId = ""] = await seen<string>("connections");
  const outcome = async (sending: Promise<unknown>) =>
    await sending.then(
      () => "done",
      (error: Error) => error.name,
    );
  const Data = Buffer.alloc(100_000, "x");
  const post = () => outcome(clients.management.send(new PostToConnectionCommand({ ConnectionId, Data })));
  // what the buffers of the system take is soon full
  await expect.poll(post).toBe("LimitExceededException");
  expect(await outcome(clients.management.send(new DeleteConnectionCommand({ ConnectionId })))).toBe("done");
  expect(await post()).toBe("GoneException");
  await expect.poll(async () => (await seen<{ routeKey: string }>("socket")).at(-1)?.routeKey).toBe("$disconnect");
});
