import { expect, test } from "vitest";
import { verifies } from "../../../test/support/verifies.ts";
import { isPrivateAddress, isPublicAddress } from "../src/public-address.ts";

const refused = [
  "0.0.0.0", "0.1.2.3", "10.0.0.1", "10.255.255.255", "100.64.0.1", "100.127.255.255", "127.0.0.1", "127.255.255.254",
  "169.254.169.254", "169.254.0.1", "172.16.0.1", "172.31.255.255", "192.0.0.8", "192.0.2.1", "192.88.99.1", "192.168.0.1",
  "198.18.0.1", "198.19.255.255", "198.51.100.7", "203.0.113.9", "224.0.0.1", "239.255.255.255", "240.0.0.1",
  "255.255.255.255", "::", "::1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:8.8.8.8", "::127.0.0.1", "64:ff9b::7f00:1",
  "64:ff9b::808:808", "64:ff9b:1::1", "100::1", "2001::1", "2001:db8::1", "2002:7f00:1::", "2002:808:808::1", "3fff::1",
  "fc00::1", "fd00::1", "fd00:ec2::254", "fe80::1", "fe80::1%eth0", "fec0::1", "ff02::1", "4000::1", "5f00::1",
  "", "localhost", "example.org", "127.1", "0x7f.0.0.1", "1.2.3", "1.2.3.4.5", " 8.8.8.8",
  "168.63.129.16",
]; // prettier-ignore

const allowed = [
  "1.1.1.1", "8.8.8.8", "9.255.255.255", "11.0.0.1", "100.63.255.255", "100.128.0.1", "126.255.255.255", "128.0.0.1",
  "169.253.255.255", "169.255.0.1", "172.15.255.255", "172.32.0.1", "192.167.255.255", "192.169.0.1", "223.255.255.255",
  "2001:4860:4860::8888", "2606:4700:4700::1111", "2a00:1450::1", "2003::1",
]; // prettier-ignore

test(
  verifies("S-32", "loopback, link-local, private, metadata and special addresses are not public, in any form"),
  () => {
    for (const address of refused) expect(isPublicAddress(address), address).toBe(false);
    for (const address of allowed) expect(isPublicAddress(address), address).toBe(true);
  },
);

const inner = [
  "10.0.0.1", "10.255.255.255", "100.64.0.1", "172.16.0.1", "172.31.255.255", "192.168.0.1", "198.18.0.1", "203.0.113.9",
  "fc00::1", "fd00::1",
]; // prettier-ignore

const never = [
  "0.0.0.0", "127.0.0.1", "169.254.169.254", "169.254.0.1", "100.100.100.200", "192.0.0.8", "224.0.0.1", "255.255.255.255",
  "::", "::1", "::ffff:10.0.0.1", "::ffff:127.0.0.1", "64:ff9b::a00:1", "2002:a00:1::", "fe80::1", "fd00:ec2::254", "fec0::1",
  "ff02::1", "", "localhost", "10.1", "fd00::1%eth0", "8.8.8.8", "2003::1",
  "fd00:ec2::23", "fd00:42::42", "168.63.129.16",
]; // prettier-ignore

test(verifies("S-103", "private networks are not this machine, its link, or the services that tell its keys"), () => {
  for (const address of inner) expect(isPrivateAddress(address), address).toBe(true);
  for (const address of never) expect(isPrivateAddress(address), address).toBe(false);
});
