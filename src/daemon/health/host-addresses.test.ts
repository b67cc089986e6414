import { expect, test } from "bun:test";
import { couldGive, interfaceAddresses } from "./host-addresses.ts";

test("interfaceAddresses has the addresses of this machine, but neither loopback nor link-local ones", async () => {
  const { networkInterfaces } = await import("node:os");
  const all = Object.values(networkInterfaces()).flatMap((addresses = []) => addresses);
  const wanted = all.filter(({ address, internal }) => !internal && !address.startsWith("fe80:"));
  const texts = (await interfaceAddresses()).map(({ text }) => text);
  expect(texts).not.toContain("127.0.0.1");
  // Other tests may come and go with interfaces meanwhile; those of eth0 stay.
  const [first] = wanted;
  if (first !== undefined) expect(texts).toContain(first.address);
});

const v4 = "10.1.0.9";
const v6 = "fd00:1::9";

test.each([
  ["a subnet around it", v4, { subnet: "10.1.0.0/24" }, true],
  ["a range from the middle", v4, { range: "10.1.200.5-10.1.200.9/16" }, true],
  ["a fixed address", v4, { address: "10.1.0.9/24" }, true],
  ["a wide range", v4, { subnet: "10.0.0.0/8" }, true],
  ["letters written by number", v4, String.raw`{"subnet": "\u00310.1.0.0/24"}`, true],
  ["a slash written as JSON allows", v4, String.raw`{"subnet": "10.0.0.0\/8"}`, true],
  ["a subnet beside it", v4, { subnet: "10.2.0.0/24" }, false],
  ["a subnet that ends alike", v4, { subnet: "110.1.0.0/24" }, false],
  ["a default route", v4, { subnet: "10.2.0.0/24", routes: [{ dst: "0.0.0.0/0" }, { dst: "::/0" }] }, false],
  ["IPv6 around it", v6, { range: "FD00:1::/64" }, true],
  ["IPv6 with all its digits", "64:ff9b::9", { range: "0064:ff9b::/96" }, true],
  ["wide IPv6", v6, { range: "fc00::/7" }, true],
  ["IPv6 beside it", v6, { range: "fd01::/64" }, false],
] as const)("couldGive: %s", (_what, text, config, could) => {
  const told = typeof config === "string" ? config : JSON.stringify(config);
  expect(couldGive([{ ifname: "eth0", text }])(told)).toBe(could);
  expect(couldGive([])(told)).toBe(false);
});
