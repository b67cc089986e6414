import { expect, test } from "bun:test";
import { compareBatch, type MakeCase } from "./batch.ts";
import type { Upstream } from "./case.ts";
import { hostDeviceCase, ipvlanCase, macvlanCase, ptpCase, vlanCase } from "./link-cases.ts";
import { tuningCase } from "./tuning-cases.ts";
const all: readonly Upstream[] = [{ version: "1.1.1", folder: "/usr/lib/cni" }, { version: "1.9.1", folder: "/tmp/p17/v191" }];
const plugins: readonly (readonly [string, MakeCase])[] = [
  ["macvlan", macvlanCase], ["ptp", ptpCase], ["host-device", hostDeviceCase], ["tuning", tuningCase], ["ipvlan", ipvlanCase], ["vlan", vlanCase],
];
for (const [name, make] of plugins)
  for (const upstream of all)
  test(`${name} ${upstream.version}`, async () => {
    const batch = await compareBatch(upstream, make, 40);
    console.log(name, upstream.version, "served", batch.served, "left", batch.left, "faults", batch.faults.length);
    if (batch.faults.length > 0) console.log(batch.faults.slice(0,6).join("\n\n"));
    expect(batch.faults.length).toBe(0);
  }, 900_000);
