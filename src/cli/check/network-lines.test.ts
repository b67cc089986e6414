import { expect, test } from "bun:test";
import {
  judgeNetwork,
  takenAddress,
  withDoubts,
  type HostFacts,
  type PluginNeeds,
} from "../../readiness/network-rules.ts";
import type { ChecksAnswer } from "../../wire/node-view.ts";
import { networkLines } from "./network-lines.ts";

const wholeHost: HostFacts = {
  hasProgram: () => true,
  program: () => undefined,
  link: () => undefined,
  hasLink: () => true,
  hasFile: () => true,
  uplinks: () => [{ name: "eth0", isUp: true }],
  filtersVlans: () => true,
};
const needs: PluginNeeds = {
  programs: ["bridge"],
  links: [],
  bridge: { bridge: "br0" },
  vlanBridges: ["br0"],
  daemon: { name: "the DHCP daemon", socket: "/run/cni/dhcp.sock" },
};

test("networkLines says what to do about an address of the host in a network's range", () => {
  const ready = judgeNetwork("default/lan", [needs], wholeHost);
  const networks = [withDoubts(ready, [takenAddress("10.1.0.9", "br0")])];
  const answer = { networks, networksTotal: 1, checks: [], nodeName: "", isReady: true, shimSoftware: "" };
  expect(networkLines(answer)[0]).toEqual({
    state: "warning",
    name: "default/lan",
    detail: "ready, but host address 10.1.0.9 of br0 is in the network's range",
    hint: "exclude the host's address from the network's range, or give the host another one",
  });
});

/** The one network's line on a host that lacks something, with the words that the daemon really says. */
function lineOn(host: Partial<HostFacts>): string {
  const networks = [judgeNetwork("default/lan", [needs], { ...wholeHost, ...host })];
  const answer = { networks, networksTotal: 1, checks: [], nodeName: "", isReady: true, shimSoftware: "" };
  const [first] = networkLines(answer satisfies ChecksAnswer);
  return `${first?.state ?? ""}: ${first?.hint ?? ""}`;
}

test.each([
  ["a plugin", { hasProgram: () => false }, "failed: install the plugin"],
  ["a link", { hasLink: () => false }, "failed: create what is missing on the host"],
  ["a daemon", { hasFile: () => false }, "failed: start that daemon on this node"],
  ["a bridge's filter", { filtersVlans: () => false }, "failed: turn the filter on, and let the bridge's uplink carry"],
  ["a bridge's uplink", { uplinks: () => [] }, "failed: mend the bridge's uplink, or annotate"],
  ["an uplink's carrier", { uplinks: () => [{ name: "eth0", isUp: false }] }, "failed: mend the bridge's uplink, or"],
  [
    "a look at an uplink",
    { uplinks: () => [{ name: "eth0", isUp: undefined }] },
    "warning: roll out the resident hand",
  ],
  ["a look at a bridge", { uplinks: () => undefined }, "warning: roll out the resident hand of the daemon's version"],
])("networkLines says what to do when %s is missing, and nothing else", (_what, host, start) => {
  const line = lineOn(host);
  expect(line).toStartWith(start);
  expect(line).not.toContain(";");
});

test("networkLines names a network that is unknown because its uplink was not seen, and does not call it ready", () => {
  const networks = [judgeNetwork("default/lan", [needs], { ...wholeHost, uplinks: () => undefined })];
  const answer = { networks, networksTotal: 1, checks: [], nodeName: "", isReady: true, shimSoftware: "" };
  expect(networkLines(answer).map(({ state, name, detail }) => `${state} ${name} ${detail}`)).toEqual([
    "warning default/lan unknown: the ports of host bridge br0 were not seen",
  ]);
});

test("networkLines says what to do about an interface of the bridge's name that is no bridge", () => {
  expect(lineOn({ uplinks: () => "no-bridge" })).toContain("; rename that interface, or name another bridge");
});
