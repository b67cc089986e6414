import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { untilTrueStatus } from "../expectations.ts";
import { ofMachine, untilNothingIsLeft } from "../leftovers.ts";
import { applyNetworks, deleteNetwork, hostLocal, leases, network } from "../networks.ts";
import { sandboxes } from "../node/containerd.ts";
import { generatedConf } from "../node/levee-node.ts";
import { MultusNode } from "../node/multus-node.ts";
import type { Pod } from "../pods.ts";
import { forgetRecorded, recorded } from "../recorder.ts";
import { say } from "../say.ts";
import { surroundings } from "../the-cluster.ts";
import { podsOn, statusAnnotation, theStoppedScene } from "../the-levee.ts";
import { until } from "../until.ts";

/** What printing it again would change: a number above 2^53, a fraction that is none, a key nobody knows. */
const oddBytes = '"odd":{"big":9007199254740993,"fraction":1500.0}';

test.each(["v4.2.2", "v4.3.0"])("from Multus %s to Levee and back with pods running", async (version) => {
  const { cluster, levee } = await theStoppedScene();
  const multus = new MultusNode(cluster, version, surroundings().multus[version] ?? "");
  await levee.stop();
  await multus.install();
  await multus.start();
  await levee.uninstall();
  await cluster.untilNodeReady();
  await applyNetworks(cluster.api, chainNetwork());
  const old = await cluster.pods.run(podsOn(["old-a", "old-b"], "chain"));
  const before = sandboxes().map(({ id }) => id);
  say(`two pods run with Multus ${version}`);

  await levee.start();
  await multus.stop();
  say("Levee has taken over");
  await cluster.pods.run(podsOn(["new-a", "new-b"], "chain"));
  await untilTrueStatus(() => cluster.pods.get("new-a"), ["default/chain"]);
  expect(sandboxes().map(({ id }) => id)).toEqual(expect.arrayContaining(before));
  await expectSameStatusBytes(old[0], await cluster.pods.get("new-a"));
  expect(await restarts(cluster.pods.get("old-a"))).toBe(0);

  forgetRecorded();
  await cluster.pods.remove(["old-a"]);
  const deleted = await until("the old pod's network was deleted", () =>
    recorded().find((call) => call.command === "DEL"),
  );
  expect(deleted.stdin).toContain(oddBytes);
  expect(deleted.stdin).toContain('"prevResult"');
  await cluster.pods.remove(["new-a"]);
  await until("two pods hold their addresses", () => (leases().length === 4 ? true : undefined));

  await multus.start();
  await levee.uninstall();
  expect(existsSync(generatedConf)).toBe(false);
  say("Multus is back");
  await cluster.pods.run(podsOn(["back"], "chain"));
  expect(await restarts(cluster.pods.get("new-b"))).toBe(0);
  await cluster.pods.remove(["old-b", "new-b", "back"]);
  await until("nothing is left on the machine", () => (ofMachine().length === 0 ? true : undefined));

  await levee.start();
  await multus.stop();
  await untilNothingIsLeft(levee);
  await deleteNetwork(cluster.api, "chain");
});

/** A list with a key that Multus' own copy of it loses. */
function chainNetwork(): ReturnType<typeof network> {
  const plugin = { type: "recorded-bridge", bridge: "chain0", ipam: hostLocal("10.97.0.0/24"), odd: 0 };
  const list = JSON.stringify({ cniVersion: "1.0.0", name: "chain", plugins: [plugin] });
  const object = network("chain", {});
  return { ...object, spec: { config: list.replace('"odd":0', oddBytes) } };
}

/** Two pods on the same networks are told apart by their addresses only. */
async function expectSameStatusBytes(ofMultus: Pod | undefined, ofLevee: Pod): Promise<void> {
  expect(withoutAddresses(ofLevee)).toBe(withoutAddresses(ofMultus));
}

function withoutAddresses(pod: Pod | undefined): string {
  const text = pod?.metadata.annotations?.[statusAnnotation] ?? "";
  return text.replaceAll(/"\d+\.\d+\.\d+\.\d+"/g, '"address"').replaceAll(/"(?:[0-9a-f]{2}:){5}[0-9a-f]{2}"/g, '"mac"');
}

async function restarts(pod: Promise<Pod>): Promise<number> {
  return (await pod).status?.containerStatuses?.[0]?.restartCount ?? -1;
}
