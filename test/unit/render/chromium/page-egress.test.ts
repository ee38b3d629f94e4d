import { expect, it } from "vitest";
import { ProxyFault, type ProxyFaultCode } from "../../../../shared/access/proxy-tunnel.ts";
import { isEgressFault } from "../../../../shared/render/chromium/page-egress.ts";

const checked = (code: ProxyFaultCode, toOwnHost: boolean, hasWorked: boolean) =>
  isEgressFault(new ProxyFault(code, ""), toOwnHost, hasWorked);

it("ends a page where its proxy is broken, and not where one of many hosts is out of its reach", () => {
  for (const code of ["PROXY_CONNECT_FAILED", "PROXY_AUTH_FAILED", "PROXY_PROTOCOL_ERROR", "PROXY_BLOCKED"] as const) {
    expect(checked(code, false, true), code).toBe(true);
  }
  expect(checked("TARGET_UNREACHABLE", true, false)).toBe(false);
  expect([checked("PROXY_DENIED", true, true), checked("PROXY_DENIED", false, false)]).toEqual([true, false]);
  expect(checked("PROXY_TIMEOUT", true, true)).toBe(true);
  expect([checked("PROXY_TIMEOUT", false, false), checked("PROXY_TIMEOUT", false, true)]).toEqual([true, false]);
});
