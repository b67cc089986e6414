import { expect, test } from "bun:test";
import type { JsonText, NetworkName } from "../base/brand.ts";
import type { Chain } from "../cni/chain.ts";
import { checkGranted } from "./granted.ts";

const result = JSON.stringify({
  cniVersion: "1.0.0",
  interfaces: [
    { name: "br0", mac: "02:00:00:00:00:99" },
    { name: "net1", mac: "02:00:00:00:00:0A", sandbox: "/n" },
  ],
  ips: [{ address: "10.0.0.5/24" }, { address: "fd00::5/64" }],
}) as JsonText;

function chain(request: Chain["multus"]["request"], more: Partial<Chain> = {}, declared: string[] = []): Chain {
  const capabilityArgs = Object.fromEntries(declared.map((name) => [name, "1" as JsonText]));
  return {
    network: "web/lan" as NetworkName,
    ifname: "net1",
    cniVersion: "1.0.0",
    isDefault: false,
    links: [{ type: "bridge" }],
    multus: { request, capabilityArgs },
    ...more,
  } as unknown as Chain; // what the check looks at
}

test.each([
  [{}],
  [{ mac: "02:00:00:00:00:0a" }],
  [{ mac: "02-00-00-00-00-0A" }],
  [{ mac: "0200.0000.000a" }],
  [{ ips: ["10.0.0.5"] }],
  [{ ips: ["10.0.0.5/16", "fd00:0::5/64"] }],
  [{ ips: [] }],
])("checkGranted is content with what the result shows: %j", (request) => {
  expect(() => checkGranted(chain(request), result)).not.toThrow();
});

test.each([
  [
    { mac: "02:00:00:00:00:99" },
    '"mac" 02:00:00:00:00:99: its plugins (bridge) declare no capability "mac" and gave 02:00:00:00:00:0A',
  ],
  [
    { ips: ["10.0.0.5", "10.0.0.6"] },
    '"ips" 10.0.0.6: its plugins (bridge) declare no capability "ips" and gave 10.0.0.5, fd00::5',
  ],
])("checkGranted refuses %j", (request, words) => {
  expect(() => checkGranted(chain(request), result)).toThrow(words);
});

test("checkGranted refuses where the result is silent", () => {
  const silent = '{"cniVersion":"1.0.0"}' as JsonText;
  expect(() => checkGranted(chain({ mac: "02:00:00:00:00:0a" }), silent)).toThrow("and gave none");
  expect(() => checkGranted(chain({ ips: ["10.0.0.5"] }), silent)).toThrow("and gave none");
});

test.each(["0.1.0", "0.2.0"] as const)(
  "checkGranted expects no MAC of a result of %s, which cannot name an interface, but its address",
  (cniVersion) => {
    const old = `{"cniVersion":"${cniVersion}","ip4":{"ip":"10.0.0.5/24"}}` as JsonText;
    const mac = "02:00:00:00:00:0a";
    expect(() => checkGranted(chain({ mac, ips: ["10.0.0.5"] }, { cniVersion }), old)).not.toThrow();
    expect(() => checkGranted(chain({ mac, ips: ["10.0.0.6"] }, { cniVersion }), old)).toThrow('"ips" 10.0.0.6');
  },
);

test("checkGranted leaves to the plugins what they declare, and the default network to its own", () => {
  const other = { mac: "02:00:00:00:00:01", ips: ["10.9.9.9"] };
  expect(() => checkGranted(chain(other, {}, ["mac", "ips"]), result)).not.toThrow();
  expect(() => checkGranted(chain(other, { isDefault: true }), result)).not.toThrow();
});
