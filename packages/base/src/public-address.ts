/** Which addresses belong to the public network: nothing else is reached for a model (S-32). */
import { BlockList, isIP } from "node:net";

/** Ranges of the registries of special addresses that are no public hosts. */
const specialRanges: readonly (readonly [address: string, bits: number, family: "ipv4" | "ipv6"])[] = [
  ["0.0.0.0", 8, "ipv4"], ["10.0.0.0", 8, "ipv4"], ["100.64.0.0", 10, "ipv4"], ["127.0.0.0", 8, "ipv4"],
  ["169.254.0.0", 16, "ipv4"], ["172.16.0.0", 12, "ipv4"], ["192.0.0.0", 24, "ipv4"], ["192.0.2.0", 24, "ipv4"],
  ["192.31.196.0", 24, "ipv4"], ["192.52.193.0", 24, "ipv4"], ["192.88.99.0", 24, "ipv4"], ["192.168.0.0", 16, "ipv4"],
  ["192.175.48.0", 24, "ipv4"], ["198.18.0.0", 15, "ipv4"], ["198.51.100.0", 24, "ipv4"], ["203.0.113.0", 24, "ipv4"],
  ["224.0.0.0", 4, "ipv4"], ["240.0.0.0", 4, "ipv4"],
  // Azure's service of the machine, at an address that looks public.
  ["168.63.129.16", 32, "ipv4"],
  // Public IPv6 addresses are those of 2000::/3, less what carries an IPv4 address inside or is for documents.
  ["::", 3, "ipv6"], ["4000::", 2, "ipv6"], ["8000::", 1, "ipv6"],
  ["2001::", 23, "ipv6"], ["2001:db8::", 32, "ipv6"], ["2002::", 16, "ipv6"], ["2620:4f:8000::", 48, "ipv6"],
  ["3fff::", 20, "ipv6"],
]; // prettier-ignore

/** Networks of companies and homes, and ranges of no use elsewhere that some networks take (benchmarks, documents). */
const privateRanges: typeof specialRanges = [
  ["10.0.0.0", 8, "ipv4"], ["100.64.0.0", 10, "ipv4"], ["172.16.0.0", 12, "ipv4"], ["192.0.2.0", 24, "ipv4"],
  ["192.168.0.0", 16, "ipv4"], ["198.18.0.0", 15, "ipv4"], ["198.51.100.0", 24, "ipv4"], ["203.0.113.0", 24, "ipv4"],
  ["fc00::", 7, "ipv6"],
]; // prettier-ignore

/** Services of clouds that tell a machine its keys, in private ranges. */
const metadataRanges: typeof specialRanges = [
  ["100.100.100.200", 32, "ipv4"],
  ["fd00:ec2::", 32, "ipv6"],
  ["fd00:42::42", 128, "ipv6"],
  ["fd20:ce::254", 128, "ipv6"],
];

/** This machine. */
const ownRanges: typeof specialRanges = [
  ["127.0.0.0", 8, "ipv4"],
  ["::1", 128, "ipv6"],
];

/** A list for each family: in one list an IPv4 address counts as the IPv6 one that it can be written as. */
function createLists(ranges: typeof specialRanges): Readonly<Record<"ipv4" | "ipv6", BlockList>> {
  const lists = { ipv4: new BlockList(), ipv6: new BlockList() };
  for (const [address, bits, family] of ranges) lists[family].addSubnet(address, bits, family);
  return lists;
}

const special = createLists(specialRanges);
const inner = createLists(privateRanges);
const metadata = createLists(metadataRanges);
const own = createLists(ownRanges);

/** Undefined for what is no plain address, such as a name. */
function toFamily(address: string): "ipv4" | "ipv6" | undefined {
  const version = isIP(address);
  if (version === 0 || address.includes("%")) return undefined;
  return version === 6 ? "ipv6" : "ipv4";
}

/** True if an IP address is one of a public host. A name is none. */
export function isPublicAddress(address: string): boolean {
  const family = toFamily(address);
  return family !== undefined && !special[family].check(address, family);
}

/** True if an IP address is one of a host in a private network, which a rule may allow (S-103). */
export function isPrivateAddress(address: string): boolean {
  const family = toFamily(address);
  return family !== undefined && inner[family].check(address, family) && !metadata[family].check(address, family);
}

/** True if an IP address is one of this machine. */
export function isOwnAddress(address: string): boolean {
  const family = toFamily(address);
  return family !== undefined && own[family].check(address, family);
}
