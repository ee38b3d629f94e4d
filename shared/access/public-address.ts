/** Decides whether an IP address is one that a crawler may connect to. */
import ipaddr from "ipaddr.js";

/** The only IPv6 block from which global unicast addresses are assigned (IANA). */
const GLOBAL_UNICAST: [ipaddr.IPv6, number] = [ipaddr.IPv6.parse("2000::"), 3];

/**
 * What keeps `address` from being public, in words, or undefined where it is public unicast. Addresses that embed an
 * IPv4 address (mapped, NAT64, 6to4, Teredo) are refused whatever they embed: no public site needs them, and each is a
 * way around a filter that only looks at the outer address.
 * @param address IPv4 or IPv6 literal without brackets; a zone id makes it non-public
 */
export function nonPublicReason(address: string): string | undefined {
  if (address.includes("%")) return "it names a network interface";
  if (!ipaddr.isValid(address)) return "it is no IP address";
  const parsed = ipaddr.parse(address);
  const range = parsed.range();
  if (range !== "unicast") return `its range is ${range}`;
  if (parsed instanceof ipaddr.IPv6 && !parsed.match(...GLOBAL_UNICAST)) return "it is outside 2000::/3";
  return undefined;
}
