import { expect, test } from "bun:test";
import { readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { LeaksAnswer } from "../../../src/wire/node-view.ts";
import { untilTrueStatus } from "../expectations.ts";
import { untilNothingIsLeft } from "../leftovers.ts";
import { leases, listing, podInterfaces, writePrimary } from "../networks.ts";
import { stateDir } from "../node/levee-node.ts";
import { pathOf } from "../manifests.ts";
import { say } from "../say.ts";
import { theUninstalled } from "../installed/the-installed.ts";
import { names, podsOn } from "../the-levee.ts";
import { until } from "../until.ts";

const old = names("older", 6);
/** Its object goes at once, so that its DEL comes when the pod is gone from the API. */
const forced = "older-forced";
const results = "/var/lib/cni/results";

test("Levee is installed over a running primary; when the old pods end, nothing of them is left", async () => {
  const { cluster, levee } = await theUninstalled();
  // A first install has no journal. The folder itself is a mount.
  for (const name of listing(stateDir)) rmSync(join(stateDir, name), { recursive: true });
  writePrimary("1.0.0");
  await cluster.untilNodeReady();
  // The annotation of half of them names a network, which they do not have without Levee.
  await cluster.pods.create(podsOn(old.slice(0, 3), "blue"));
  await cluster.pods.create([...old.slice(3), forced].map((name) => ({ name })));
  await cluster.pods.untilReady([...old, forced]);
  expect(podInterfaces(old[0] ?? "").map(({ ifname }) => ifname)).toEqual(["eth0"]);
  expect(leases()).toHaveLength(7);
  say("seven pods run on the primary alone");

  await levee.install();
  await cluster.pods.run(podsOn(["younger"], "blue"));
  await untilTrueStatus(() => cluster.pods.get("younger"), ["default/blue"]);
  await cluster.api.delete(pathOf("Pod", "default", forced), { gracePeriodSeconds: 0 });
  await cluster.pods.remove([...old, "younger"]);
  await until("no address is held", () => {
    if (leases().length > 0) throw new Error(`held are ${leases().join(", ")}`);
    return true;
  });
  // A plugin ends before its DEL does. One that the next scenario cuts off cannot be told from a lost one.
  await until("no call is under way", () => shimsOfCalls() === 0 || undefined);
  expect((await levee.ask<LeaksAnswer>({ ask: "leaks" })).leaks).toEqual([]);

  // The runtime keeps the primary's results of the old pods for ever, because it deletes under another name now.
  for (const file of listing(results).filter((name) => name.startsWith("primary-"))) rmSync(join(results, file));
  await untilNothingIsLeft(levee);
});

/** Shims that serve a call of the runtime. */
function shimsOfCalls(): number {
  return readdirSync("/proc").filter((pid) => /^\d+$/u.test(pid) && isCall(commandOf(pid))).length;
}

function isCall(command: string): boolean {
  return /^\S*levee-shim\0/u.test(command) && !command.includes("--resident");
}

function commandOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8");
  } catch {
    // It has ended.
    return "";
  }
}
