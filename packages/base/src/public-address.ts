/** Decides if an address is public: for a model, Sheaf reaches no other (S-32). */
import { BlockList, isIP } from "node:net";

/** Ranges that are not public hosts, from the registries of special addresses. */
const specialRanges: readonly (readonly [address: string, bits: number, family: "ipv4" | "ipv6"])[] = [
  ["0.0.0.0", 8, "ipv4"], ["10.0.0.0", 8, "ipv4"], ["100.64.0.0", 10, "ipv4"], ["127.0.0.0", 8, "ipv4"],
  ["169.254.0.0", 16, "ipv4"], ["172.16.0.0", 12, "ipv4"], ["192.0.0.0", 24, "ipv4"], ["192.0.2.0", 24, "ipv4"],
  ["192.31.196.0", 24, "ipv4"], ["192.52.193.0", 24, "ipv4"], ["192.88.99.0", 24, "ipv4"], ["192.168.0.0", 16, "ipv4"],
  ["192.175.48.0", 24, "ipv4"], ["198.18.0.0", 15, "ipv4"], ["198.51.100.0", 24, "ipv4"], ["203.0.113.0", 24, "ipv4"],
  ["224.0.0.0", 4, "ipv4"], ["240.0.0.0", 4, "ipv4"],
  // Azure's service for a machine, at an address that looks public.
  ["168.63.129.16", 32, "ipv4"],
  // Public IPv6 addresses are 2000::/3, without addresses that contain an IPv4 address or are for documents.
  ["::", 3, "ipv6"], ["4000::", 2, "ipv6"], ["8000::", 1, "ipv6"],
  ["2001::", 23, "ipv6"], ["2001:db8::", 32, "ipv6"], ["2002::", 16, "ipv6"], ["2620:4f:8000::", 48, "ipv6"],
  ["3fff::", 20, "ipv6"],
]; // prettier-ignore

/** Networks of companies and homes, and ranges for benchmarks and documents, which some networks use. */
const privateRanges: typeof specialRanges = [
  ["10.0.0.0", 8, "ipv4"], ["100.64.0.0", 10, "ipv4"], ["172.16.0.0", 12, "ipv4"], ["192.0.2.0", 24, "ipv4"],
  ["192.168.0.0", 16, "ipv4"], ["198.18.0.0", 15, "ipv4"], ["198.51.100.0", 24, "ipv4"], ["203.0.113.0", 24, "ipv4"],
  ["fc00::", 7, "ipv6"],
]; // prettier-ignore

/** Services of clouds that give a machine its keys, in private ranges. */
const metadataRanges: typeof specialRanges = [
  ["100.100.100.200", 32, "ipv4"],
  ["fd00:ec2::", 32, "ipv6"],
  ["fd00:42::42", 128, "ipv6"],
  ["fd20:ce::254", 128, "ipv6"],
];

/** Addresses of this machine. */
const ownRanges: typeof specialRanges = [
  ["127.0.0.0", 8, "ipv4"],
  ["::1", 128, "ipv6"],
];

/** Creates a list for each family: a shared list would treat an IPv4 address like its IPv6 form. */
function createLists(ranges: typeof specialRanges): Readonly<Record<"ipv4" | "ipv6", BlockList>> {
  const lists = { ipv4: new BlockList(), ipv6: new BlockList() };
  for (const [address, bits, family] of ranges) lists[family].addSubnet(address, bits, family);
  return lists;
}

const special = createLists(specialRanges);
const inner = createLists(privateRanges);
const metadata = createLists(metadataRanges);
const own = createLists(ownRanges);

/** Returns the family of an address; undefined for other text, such as a name. */
function toFamily(address: string): "ipv4" | "ipv6" | undefined {
  const version = isIP(address);
  if (version === 0 || address.includes("%")) return undefined;
  return version === 6 ? "ipv6" : "ipv4";
}

/** True for an IP address of a public host, false for a name. */
export function isPublicAddress(address: string): boolean {
  const family = toFamily(address);
  return family !== undefined && !special[family].check(address, family);
}

/** True for an IP address of a private network, which a rule may allow (S-103). */
export function isPrivateAddress(address: string): boolean {
  const family = toFamily(address);
  return family !== undefined && inner[family].check(address, family) && !metadata[family].check(address, family);
}

/** True for an IP address of this machine. */
export function isOwnAddress(address: string): boolean {
  const family = toFamily(address);
  return family !== undefined && own[family].check(address, family);
}
