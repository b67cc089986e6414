import { expect, test } from "bun:test";
import { compareBatch, type MakeCase } from "./batch.ts";
import { bridgeCase } from "./bridge-cases.ts";
import type { Upstream } from "./case.ts";
import { hostLocalCase, staticCase } from "./ipam-cases.ts";
import { loopbackCase } from "./loopback-cases.ts";
const debian: Upstream = { version: "1.9.1", folder: "/root/.cache/levee/cni-plugins-v1.9.1/bin" };
const plugins: readonly (readonly [string, MakeCase, number])[] = [
  ["bridge", bridgeCase, 12], ["host-local", hostLocalCase, 12], ["static", staticCase, 12], ["loopback", loopbackCase, 8],
];
for (const [name, make, turns] of plugins)
  test(`NEW ${name} says and leaves the same`, async () => {
    const batch = await compareBatch(debian, make, turns);
    console.log(name, batch.served, batch.left);
    expect(batch.faults.join("\n\n")).toBe("");
  });
