import { expect, test } from "bun:test";
import type { IfName, JsonText, NetworkName, PluginType } from "../../base/brand.ts";
import type { Chain } from "../../cni/chain.ts";
import { lastResult, linksStarted, routesStepOf, stepOf, type Progress } from "./steps.ts";

function chain(links: number): Chain {
  return {
    network: "n" as NetworkName,
    confName: "n",
    ifname: "eth0" as IfName,
    cniVersion: "1.0.0",
    isDefault: true,
    cniArgs: "",
    links: Array.from({ length: links }, () => ({ type: "p" as PluginType, stdin: "{}" as JsonText })),
    disableCheck: false,
    disableGC: false,
    routes: { dropV4: false, dropV6: false, gateways: [] },
    multus: { config: "{}" as JsonText, isList: false, capabilityArgs: {}, request: {} },
  };
}

const chains = [chain(2), chain(1)];
const done = (...steps: number[]): { chains: Chain[]; steps: Map<number, { result: JsonText | undefined }> } => ({
  chains,
  steps: new Map(steps.map((step) => [step, { result: `"${step}"` as JsonText }])),
});

test("stepOf numbers links and routes of all chains without gaps", () => {
  expect([
    stepOf(chains, 0, 0),
    stepOf(chains, 0, 1),
    routesStepOf(chains, 0),
    stepOf(chains, 1, 0),
    routesStepOf(chains, 1),
  ]).toEqual([1, 2, 3, 4, 5]);
});

test("linksStarted counts finished links and the one that may be under way", () => {
  expect(linksStarted(done(), 0)).toBe(1);
  expect(linksStarted(done(1), 0)).toBe(2);
  expect(linksStarted(done(1, 2), 0)).toBe(2);
});

test("linksStarted is 0 for a chain whose predecessor has not finished", () => {
  expect(linksStarted(done(1), 1)).toBe(0);
  expect(linksStarted(done(1, 2), 1)).toBe(1);
});

test("linksStarted waits for the routes of a predecessor that has some to edit", () => {
  const edited = { ...chain(2), routes: { dropV4: true, dropV6: false, gateways: [] } };
  const progress = (...steps: number[]): Progress => ({ ...done(...steps), chains: [edited, chain(1)] });
  expect(linksStarted(progress(1, 2), 1)).toBe(0);
  expect(linksStarted(progress(1, 2, 3), 1)).toBe(1);
});

test("lastResult is the newest result of the chain", () => {
  expect(lastResult(done(), 0)).toBeUndefined();
  expect(lastResult(done(1), 0)).toBe('"1"' as JsonText);
  expect(lastResult(done(1, 2, 3, 4), 0)).toBe('"2"' as JsonText);
});
