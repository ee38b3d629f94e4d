import { expect, test } from "vitest";
import WebSocket from "ws";
import { testRuntime } from "../../../services/index.ts";

test("a client that does not read is told of as such, is let go, and holds up nobody", async () => {
  const { runtime, seen } = await testRuntime(["socket"]);
  const socket = new WebSocket(runtime.url.replace("http", "ws"), ["chosen"]);
  await new Promise((resolve, reject) => socket.once("open", resolve).once("error", reject));
  socket.pause();
  await expect.poll(() => seen("connections")).toHaveLength(1);
  const [id] = await seen<string>("connections");
  const manage = async (method: string) => {
    const body = method === "POST" ? "x".repeat(100_000) : null;
    const { status, headers } = await fetch(`${runtime.url}/@connections/${id}`, { method, body });
    return [status, headers.get("x-amzn-errortype")];
  };
  // what the buffers of the system take is soon full
  await expect.poll(() => manage("POST")).toEqual([429, "LimitExceededException"]);
  expect(await manage("DELETE")).toEqual([204, null]);
  expect(await manage("POST")).toEqual([410, "GoneException"]);
  await expect.poll(async () => (await seen<{ routeKey: string }>("socket")).at(-1)?.routeKey).toBe("$disconnect");
});
