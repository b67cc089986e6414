import { expect, test } from "bun:test";
import { distributionPlugins } from "../lab/lab.ts";
import { compareBatch, type MakeCase } from "./batch.ts";
import { bridgeCase } from "./bridge-cases.ts";
import type { Upstream } from "./case.ts";
import { hostLocalCase, staticCase } from "./ipam-cases.ts";
import { loopbackCase } from "./loopback-cases.ts";

const debian: Upstream = { version: "1.1.1", folder: distributionPlugins };

const plugins: readonly (readonly [string, MakeCase, number])[] = [
  ["bridge", bridgeCase, 12],
  ["host-local", hostLocalCase, 12],
  ["static", staticCase, 12],
  ["loopback", loopbackCase, 8],
];

for (const [name, make, turns] of plugins)
  test(`the built-in ${name} says and leaves the same as Debian's program`, async () => {
    const batch = await compareBatch(debian, make, turns);
    expect(batch.faults.join("\n\n")).toBe("");
    expect(batch.served).toBeGreaterThan(batch.left);
  });
