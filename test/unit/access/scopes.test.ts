import { expect, it } from "vitest";
import { includesScope } from "../../../shared/access/authorize.ts";

it.each([
  // held, read, write, admin
  [["read"], true, false, false],
  [["write"], true, true, false],
  [["admin"], true, true, true],
  [["read", "write"], true, true, false],
  [["read", "admin"], true, true, true],
  [[], false, false, false],
] as const)("a key with %j may read: %s, write: %s, administrate: %s", (held, read, write, admin) => {
  expect(includesScope(held, "read")).toBe(read);
  expect(includesScope(held, "write")).toBe(write);
  expect(includesScope(held, "admin")).toBe(admin);
});
