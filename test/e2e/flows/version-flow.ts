import { expect } from "bun:test";
import { readFileSync } from "node:fs";
import { expectTraffic, untilTrueStatus } from "../expectations.ts";
import { untilNothingIsLeft } from "../leftovers.ts";
import { applyNetworks, bridgeNetwork, deleteNetwork, writePrimary } from "../networks.ts";
import { generatedConf } from "../node/levee-node.ts";
import { type InstalledScene } from "../installed/the-installed.ts";
import { names, podsOn } from "../the-levee.ts";
import { until } from "../until.ts";

const four = names("version", 4);

/** The basic flow with one CNI version everywhere: the runtime's conf, the default network and the second one. */
export async function flowWithVersion({ cluster, levee }: InstalledScene, version: string): Promise<void> {
  writePrimary(version);
  levee.configure({ cniVersion: version, logLevel: "debug" });
  await levee.restart();
  await until("the conf has the version", () => (generatedVersion() === version ? true : undefined));
  await applyNetworks(cluster.api, bridgeNetwork("versioned", "10.96.0.0/24", version));
  await cluster.untilNodeReady();
  await cluster.pods.run(podsOn(four, "versioned"));
  for (const name of four) await untilTrueStatus(() => cluster.pods.get(name), ["default/versioned"]);
  await expectTraffic(four, "net1");
  await cluster.pods.remove(four);
  await untilNothingIsLeft(levee);
  expect(await cluster.isNodeReady()).toBe(true);
  await deleteNetwork(cluster.api, "versioned");
}

function generatedVersion(): string {
  return (JSON.parse(readFileSync(generatedConf, "utf8")) as { cniVersion: string }).cniVersion;
}
