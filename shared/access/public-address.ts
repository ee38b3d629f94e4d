/** Decides whether an IP address is one that a crawler may connect to. */
import ipaddr from "ipaddr.js";

/** The only IPv6 block from which global unicast addresses are assigned (IANA). */
const GLOBAL_UNICAST: [ipaddr.IPv6, number] = [ipaddr.IPv6.parse("2000::"), 3];

/**
 * What providers answer at to the machines of their customers, though the addresses look public: DNS, metadata and
 * services of a private network. What lies in private ranges (169.254.169.254, 100.100.100.200, fd00:ec2::254) is
 * refused without being named.
 */
const PROVIDERS: readonly [name: string, network: string][] = [
  // https://learn.microsoft.com/azure/virtual-network/what-is-ip-address-168-63-129-16
  ["Azure", "168.63.129.16/32"],
  // https://cloud.google.com/vpc/docs/configure-private-google-access
  ["Google Cloud", "199.36.153.4/30"],
  ["Google Cloud", "199.36.153.8/30"],
  ["Google Cloud", "2600:2d00:2:1000::/64"],
  ["Google Cloud", "2600:2d00:2:2000::/64"],
  // https://cloud.ibm.com/docs/cloud-infrastructure?topic=cloud-infrastructure-ibm-cloud-ip-ranges
  ["IBM Cloud", "161.26.0.0/16"],
  ["IBM Cloud", "166.8.0.0/14"],
  // https://www.tencentcloud.com/document/product/213/4928
  ["Tencent Cloud", "183.60.82.98/32"],
  ["Tencent Cloud", "183.60.83.19/32"],
  // https://docs.hetzner.com/dns-console/dns/general/recursive-name-servers/
  ["Hetzner", "185.12.64.1/32"],
  ["Hetzner", "185.12.64.2/32"],
  ["Hetzner", "2a01:4ff:ff00::add:1/128"],
  ["Hetzner", "2a01:4ff:ff00::add:2/128"],
];
const PROVIDER_NETWORKS = PROVIDERS.map(([name, network]) => ({ name, network: ipaddr.parseCIDR(network) }));

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
  const provider = PROVIDER_NETWORKS.find(
    ({ network }) => network[0].kind() === parsed.kind() && parsed.match(network),
  );
  return provider && `it belongs to ${provider.name}, for the machines of its customers`;
}
