import { afterAll, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { expectTraffic, untilTrueStatus } from "../expectations.ts";
import { untilNothingIsLeft } from "../leftovers.ts";
import { applyNetworks, bridgeNetwork, deleteNetwork, writePrimary } from "../networks.ts";
import { generatedConf } from "../node/levee-node.ts";
import { names, podsOn, theScene } from "../the-levee.ts";
import { until } from "../until.ts";

const versions = ["0.3.1", "0.4.0", "1.0.0", "1.1.0"];
const four = names("version", 4);

test.each(versions)("four pods on two networks with CNI %s throughout", async (version) => {
  const { cluster, levee } = await theScene();
  writePrimary(version);
  levee.configure({ cniVersion: version });
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
});

afterAll(async () => {
  const { cluster, levee } = await theScene();
  await deleteNetwork(cluster.api, "versioned");
  writePrimary("1.0.0");
  levee.configure();
  await levee.restart();
}, 60_000);

function generatedVersion(): string {
  return (JSON.parse(readFileSync(generatedConf, "utf8")) as { cniVersion: string }).cniVersion;
}
