import { afterAll, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import type { AttachmentsAnswer } from "../../../src/wire/node-view.ts";
import { untilTrueStatus } from "../expectations.ts";
import { ofMachine, untilNothingIsLeft } from "../leftovers.ts";
import { applyNetworks, deleteNetwork, hostLocal, leases, network, writePrimary } from "../networks.ts";
import { sandboxes } from "../node/containerd.ts";
import { withSettings } from "../installed/installed-levee.ts";
import { generatedConf } from "../node/levee-node.ts";
import { MultusNode } from "../node/multus-node.ts";
import type { Pod } from "../pods.ts";
import { forgetRecorded, recorded } from "../recorder.ts";
import { say } from "../say.ts";
import { surroundings } from "../the-cluster.ts";
import { theUninstalled } from "../installed/the-installed.ts";
import { podsOn, statusAnnotation } from "../the-levee.ts";
import { until } from "../until.ts";

/** Values that parsing and printing would change: a number above 2^53, 1500.0, an unknown key. */
const oddBytes = '"odd":{"big":9007199254740993,"fraction":1500.0}';

test.each(["v4.2.2", "v4.3.0"])("from Multus %s to Levee and back with pods running", async (version) => {
  const { cluster, levee } = await theUninstalled();
  // Multus of these versions deletes lists with half their bytes, so what it deletes here is no list.
  writePrimary("1.0.0", { form: "single" });
  const multus = new MultusNode(cluster, version, surroundings().multus[version] ?? "");
  await multus.install();
  await multus.start();
  await cluster.untilNodeReady();
  await applyNetworks(cluster.api, chainNetwork());
  await cluster.pods.create(podsOn(["old-a"], "chain"));
  await cluster.pods.create(podsOn(["old-b"], "blue"));
  const old = await cluster.pods.untilReady(["old-a", "old-b"]);
  const before = sandboxes().map(({ id }) => id);
  say(`two pods run with Multus ${version}`);

  await levee.install();
  await multus.stop();
  say("Levee has taken over");
  await cluster.pods.create(podsOn(["new-a"], "chain"));
  await cluster.pods.run(podsOn(["new-b"], "blue"));
  await cluster.pods.untilReady(["new-a"]);
  await untilTrueStatus(() => cluster.pods.get("new-a"), ["default/chain"]);
  const now = new Set(sandboxes().map(({ id }) => id));
  expect(before.filter((id) => !now.has(id))).toEqual([]);
  expectSameStatusBytes(
    old.find((pod) => pod.metadata.name === "old-a"),
    await cluster.pods.get("new-a"),
  );
  expect(await restarts(cluster.pods.get("old-a"))).toBe(0);

  forgetRecorded();
  await cluster.pods.remove(["old-a"]);
  const deleted = await until("the old pod's network was deleted", () =>
    recorded().find((call) => call.command === "DEL"),
  );
  expect(deleted.stdin).toContain(oddBytes);
  expect(deleted.stdin).toContain('"prevResult"');
  await cluster.pods.remove(["new-a"]);
  await until("two pods hold their addresses", () => none(leases().slice(4)));

  // In this order: Multus would take our conf for that of its default network.
  await levee.uninstall();
  expect(existsSync(generatedConf)).toBe(false);
  await multus.start();
  say("Multus is back");
  await cluster.pods.run(podsOn(["back"], "blue"));
  expect(await restarts(cluster.pods.get("new-b"))).toBe(0);
  await cluster.pods.remove(["old-b", "new-b", "back"]);
  await until("nothing is left on the machine", () => none(ofMachine()));

  // Attachments that Multus deleted are still in Levee's journal. They are garbage, and Levee collects them without a call of the runtime.
  await levee.install(withSettings({ gcIntervalMs: 2_000, gcGraceMs: 500 }));
  await multus.stop();
  // Nothing is collected before a living namespace was seen.
  await cluster.pods.run(podsOn(["witness"], "blue"));
  await until("what Multus deleted is forgotten", async () => {
    const { attachments } = await levee.ask<AttachmentsAnswer>({ ask: "attachments" });
    return none(attachments.map(({ pod }) => pod).filter((pod) => pod !== "witness"));
  });
  await cluster.pods.remove(["witness"]);
  await untilNothingIsLeft(levee);
  await deleteNetwork(cluster.api, "chain");
});

afterAll(async () => {
  writePrimary("1.0.0");
  await theUninstalled();
}, 120_000);

/** A list with a key that Multus' own copy of it loses. */
function chainNetwork(): ReturnType<typeof network> {
  const plugin = { type: "recorded-bridge", bridge: "chain0", ipam: hostLocal("10.97.0.0/24"), odd: 0 };
  const list = JSON.stringify({ cniVersion: "1.0.0", name: "chain", plugins: [plugin] });
  const object = network("chain", {});
  return { ...object, spec: { config: list.replace('"odd":0', oddBytes) } };
}

/** Two pods on the same networks are told apart by their addresses only. */
function expectSameStatusBytes(ofMultus: Pod | undefined, ofLevee: Pod): void {
  expect(withoutAddresses(ofLevee)).toBe(withoutAddresses(ofMultus));
}

function withoutAddresses(pod: Pod | undefined): string {
  const text = pod?.metadata.annotations?.[statusAnnotation] ?? "";
  return text.replaceAll(/"\d+\.\d+\.\d+\.\d+"/g, '"address"').replaceAll(/"(?:[0-9a-f]{2}:){5}[0-9a-f]{2}"/g, '"mac"');
}

async function restarts(pod: Promise<Pod>): Promise<number> {
  return (await pod).status?.containerStatuses?.[0]?.restartCount ?? -1;
}

function none(left: readonly string[]): true {
  if (left.length > 0) throw new Error(`left are ${left.join(", ")}`);
  return true;
}
