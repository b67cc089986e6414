import { expect, test } from "bun:test";
import { eventsOf, untilTrueStatus } from "../expectations.ts";
import { untilNothingIsLeft } from "../leftovers.ts";
import { applyNetworks, bridgeNetwork, deleteNetwork, hostLocal, leases, network } from "../networks.ts";
import { forgetRecorded, recorded, type RecordedCall } from "../recorder.ts";
import { theInstalled } from "../installed/the-installed.ts";
import { podsOn } from "../the-levee.ts";
import { until } from "../until.ts";

test("a network edited between ADD and DEL is deleted with the bytes it was added with", async () => {
  const { cluster, levee } = await theInstalled();
  forgetRecorded();
  const before = { cniVersion: "1.0.0", type: "recorded-bridge", bridge: "edited0", odd: "before" };
  await applyNetworks(cluster.api, network("edited", { ...before, ipam: hostLocal("10.93.0.0/24") }));
  await cluster.pods.run(podsOn(["edited"], "edited"));
  await applyNetworks(
    cluster.api,
    network("edited", { ...before, bridge: "other0", odd: "after", ipam: hostLocal("10.94.0.0/24") }),
  );
  await cluster.pods.remove(["edited"]);
  await untilNothingIsLeft(levee);
  const [add] = callsOf("ADD");
  const [del] = callsOf("DEL");
  expect(JSON.parse(add?.stdin ?? "{}")).toMatchObject({ odd: "before", bridge: "edited0" });
  expect(withoutPrevious(del?.stdin)).toEqual(withoutPrevious(add?.stdin));
  await deleteNetwork(cluster.api, "edited");
});

test("a network whose definition is deleted before its pod is deleted all the same", async () => {
  const { cluster, levee } = await theInstalled();
  await applyNetworks(cluster.api, bridgeNetwork("short-lived", "10.98.0.0/24"));
  await cluster.pods.run(podsOn(["outlives"], "short-lived"));
  await deleteNetwork(cluster.api, "short-lived");
  await cluster.pods.remove(["outlives"]);
  await untilNothingIsLeft(levee);
});

test("a network that is missing keeps its pod waiting with the reason; made, it lets the pod start", async () => {
  const { cluster, levee } = await theInstalled();
  await cluster.pods.create(podsOn(["patient"], "missing"));
  await until("the pod's events name the missing network", async () => {
    const events = await eventsOf(cluster.api, "patient");
    const told = events.find(({ message }) => message.includes("missing") && message.includes("network"));
    return told === undefined ? undefined : true;
  });
  expect(leases()).toEqual([]);
  await applyNetworks(cluster.api, bridgeNetwork("missing", "10.95.0.0/24"));
  await cluster.pods.untilReady(["patient"]);
  await untilTrueStatus(() => cluster.pods.get("patient"), ["default/missing"]);
  await cluster.pods.remove(["patient"]);
  await untilNothingIsLeft(levee);
  await deleteNetwork(cluster.api, "missing");
});

function callsOf(command: string): readonly RecordedCall[] {
  return recorded().filter((call) => call.command === command);
}

function withoutPrevious(stdin: string | undefined): unknown {
  const { prevResult: _, ...rest } = JSON.parse(stdin ?? "{}") as Record<string, unknown>;
  return rest;
}
