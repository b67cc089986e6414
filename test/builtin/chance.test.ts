import { expect, test } from "bun:test";
import { Random } from "../hostile/random.ts";
import type { Upstream } from "./case.ts";
import { builtInPlugins } from "./plugins.ts";

const upstream: Upstream = { version: "1.9.1", folder: "" };

function casesOf(plugin: string): string {
  const make = builtInPlugins.find(([name]) => name === plugin)?.[1];
  return Array.from({ length: 400 }, (_, seed) => JSON.stringify(make?.(new Random(seed), upstream))).join("\n");
}

test.each([
  ["bridge", ["vlanTrunk", "ipMasqBackend", "resolvConf", '"vlan":7,"preserveDefaultVlan":true']],
  ["host-local", ["resolvConf"]],
  ["ptp", ["ipMasqBackend"]],
  ["host-device", ["pciBusID", "kernelpath", '"deviceID":"']],
  ["loopback", ["prevResult"]],
])("the cases of %s have the keys that go to the program", (plugin, keys) => {
  const all = casesOf(plugin);
  expect(keys.filter((key) => !all.includes(key))).toEqual([]);
});

test("every plugin is asked for STATUS and GC where the version has them", () => {
  for (const [plugin] of builtInPlugins)
    for (const line of casesOf(plugin).split("\n"))
      expect([plugin, line.includes('"STATUS"') && line.includes('"GC"')]).toEqual([
        plugin,
        line.includes('"cniVersion":"1.1.0"'),
      ]);
});
