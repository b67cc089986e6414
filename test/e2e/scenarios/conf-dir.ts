import { expect, test } from "bun:test";
import { existsSync, readFileSync, renameSync, rmSync } from "node:fs";
import { untilTrueStatus } from "../expectations.ts";
import { untilNothingIsLeft } from "../leftovers.ts";
import { podInterfaces, writePrimary } from "../networks.ts";
import { generatedConf } from "../node/levee-node.ts";
import { theInstalled } from "../installed/the-installed.ts";
import { podsOn } from "../the-levee.ts";
import { until } from "../until.ts";

test("another program removes or renames the conf: it comes back, and the next pod has its networks", async () => {
  const { cluster, levee } = await theInstalled();
  const before = readFileSync(generatedConf, "utf8");
  const setAside = `${generatedConf}.cilium_bak`;
  for (const [round, disturb] of [() => rmSync(generatedConf), () => renameSync(generatedConf, setAside)].entries()) {
    disturb();
    await until("the conf is back", () => (existsSync(generatedConf) ? true : undefined));
    expect(readFileSync(generatedConf, "utf8")).toBe(before);
    await cluster.untilNodeReady();
    const name = `disturbed-${round}`;
    await cluster.pods.run(podsOn([name], "blue"));
    await untilTrueStatus(() => cluster.pods.get(name), ["default/blue"]);
    await cluster.pods.remove([name]);
  }
  rmSync(setAside, { force: true });
  await untilNothingIsLeft(levee);
});

test("the default network is replaced under a running daemon: the next pod has the new one, the last one is deleted with the old", async () => {
  const { cluster, levee } = await theInstalled();
  await cluster.pods.run(podsOn(["old-primary"], "blue"));
  expect(podInterfaces("old-primary")[0]?.addresses[0]).toStartWith("10.244.");
  try {
    writePrimary("1.0.0", { subnet: "10.245.0.0/22", bridge: "another0" });
    await cluster.pods.run(podsOn(["new-primary"], "blue"));
    expect(podInterfaces("new-primary")[0]?.addresses[0]).toStartWith("10.245.");
    await cluster.pods.remove(["old-primary", "new-primary"]);
  } finally {
    writePrimary("1.0.0");
  }
  await untilNothingIsLeft(levee);
});
