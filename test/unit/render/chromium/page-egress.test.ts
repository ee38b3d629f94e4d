import { expect, it } from "vitest";
import { ProxyFault, type ProxyFaultCode } from "../../../../shared/access/proxy-tunnel.ts";
import { isTheExits } from "../../../../shared/render/chromium/page-egress.ts";

const judged = (code: ProxyFaultCode, toOwnHost: boolean, hasWorked: boolean) =>
  isTheExits(new ProxyFault(code, ""), toOwnHost, hasWorked);

it("ends a page where its proxy is broken, and not where one of many hosts is out of its reach", () => {
  for (const code of ["PROXY_CONNECT_FAILED", "PROXY_AUTH_FAILED", "PROXY_PROTOCOL_ERROR", "PROXY_BLOCKED"] as const) {
    expect(judged(code, false, true), code).toBe(true);
  }
  expect(judged("TARGET_UNREACHABLE", true, false)).toBe(false);
  expect([judged("PROXY_DENIED", true, true), judged("PROXY_DENIED", false, false)]).toEqual([true, false]);
  expect(judged("PROXY_TIMEOUT", true, true)).toBe(true);
  expect([judged("PROXY_TIMEOUT", false, false), judged("PROXY_TIMEOUT", false, true)]).toEqual([true, false]);
});
