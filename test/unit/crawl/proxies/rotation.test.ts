import { expect, it } from "vitest";
import { chooseServer, pauseAfter, type ServerUse } from "../../../../shared/crawl/proxies/rotation.ts";

const server = (use: Partial<ServerUse> = {}): ServerUse => ({ uses: 0, failures: 0, downUntil: 0, ...use });
const situation = { rotationIndex: 0, tried: new Set<number>(), now: 1000, random: 0 };

it("takes the servers in turn, and passes over those that failed lately", () => {
  const servers = [server(), server({ downUntil: 2000 }), server()];
  const turns = [0, 1, 2, 3].map((rotationIndex) =>
    chooseServer("round_robin", servers, { ...situation, rotationIndex }),
  );
  expect(turns).toEqual([0, 2, 2, 0]);
});

it("takes the least used server, the first of equals", () => {
  expect(chooseServer("least_used", [server({ uses: 2 }), server({ uses: 1 }), server({ uses: 1 })], situation)).toBe(
    1,
  );
});

it.each([
  [0, 0],
  [0.5, 1],
  [0.999, 2],
  [1, 2],
])("takes a random server: %d is number %d", (random, expected) => {
  expect(chooseServer("random", [server(), server(), server()], { ...situation, random })).toBe(expected);
});

it("asks the server that has rested longest where all failed lately, and none twice", () => {
  const servers = [server({ downUntil: 3000 }), server({ downUntil: 2000 })];
  expect(chooseServer("random", servers, situation)).toBe(1);
  expect(chooseServer("random", servers, { ...situation, tried: new Set([1]) })).toBe(0);
  expect(chooseServer("random", servers, { ...situation, tried: new Set([0, 1]) })).toBeUndefined();
});

it("avoids a server longer with each failure, ten minutes at the most", () => {
  expect([1, 2, 3, 20].map(pauseAfter)).toEqual([30_000, 60_000, 120_000, 600_000]);
});
