/** The night of 30 May 2026, when a reboot gate was killed again and again: three alerts fire, and the master has its mark. */
import { expect, test } from "bun:test";
import type { RebootGate } from "../../wire/reboot-gate.ts";
import type { AlertFacts } from "../facts/world.ts";
import { gateNowMs, markedMs, someGateFacts } from "./gate.fixture.ts";
import { gateVerdicts } from "./gate-verdicts.ts";
import type { RebootException } from "./reboot-exception.ts";

const alerts: readonly AlertFacts[] = [
  {
    name: "PVCStuckPending",
    labels: { namespace: "hermes", persistentvolumeclaim: "hermes-agent-data", severity: "warning" },
    startsMs: Date.parse("2026-04-22T10:00:00Z"),
  },
  {
    name: "ExternalAccessDivergence",
    labels: { target: "hermes.example", severity: "warning" },
    startsMs: Date.parse("2026-04-22T10:15:00Z"),
  },
  {
    name: "NodeFilesystemFull",
    labels: { instance: "k8s-node1:9100", mountpoint: "/mnt/synology-backup", severity: "critical" },
    startsMs: Date.parse("2026-05-29T21:00:00Z"),
  },
];
const nodeDisk: AlertFacts = {
  name: "NodeFilesystemFull",
  labels: { instance: "k8s-node1:9100", mountpoint: "/", severity: "critical" },
  startsMs: Date.parse("2026-05-30T03:20:00Z"),
};
const offsite: RebootException = {
  namespace: "levee-system",
  name: "offsite-backup",
  match: { alertname: "NodeFilesystemFull", mountpoint: "/mnt/synology-backup" },
  reason: "the offsite NAS is pruned next week",
  by: "viktor",
  createdMs: Date.parse("2026-05-29T22:00:00Z"),
  untilMs: Date.parse("2026-06-06T00:00:00Z"),
};

function masterAt0340(firing: readonly AlertFacts[], exceptions: readonly RebootException[] = []): RebootGate {
  const [gate] = gateVerdicts(someGateFacts({ alerts: firing }, { exceptions }), new Map());
  return gate!;
}

test("at 03:40 the verdict names all three alerts, since when, and how to clear each", () => {
  const gate = masterAt0340(alerts);
  expect(gate).toMatchObject({
    node: "k8s-master",
    verdict: "Deny",
    rebootRequiredSinceMs: markedMs,
    observedAtMs: gateNowMs,
  });
  expect(gate.reasons.map(({ code, object, sinceMs }) => [code, object, sinceMs])).toEqual([
    [
      "FiringAlert",
      "Alert/alertname=PVCStuckPending,persistentvolumeclaim=hermes-agent-data,namespace=hermes",
      alerts[0]!.startsMs,
    ],
    ["FiringAlert", "Alert/alertname=ExternalAccessDivergence,target=hermes.example", alerts[1]!.startsMs],
    [
      "FiringAlert",
      "Alert/alertname=NodeFilesystemFull,mountpoint=/mnt/synology-backup,instance=k8s-node1:9100",
      alerts[2]!.startsMs,
    ],
  ]);
  for (const { remedy } of gate.reasons)
    expect(remedy).toMatch(/^repair what \w+ tells of; or, .* levee gate except 'alertname=/u);
});

test("with an exception for the offsite mount only the other two are left, and the exception is in sight", () => {
  const gate = masterAt0340(alerts, [offsite]);
  expect(gate.reasons.map(({ message }) => message.split(" ")[2])).toEqual([
    "PVCStuckPending",
    "ExternalAccessDivergence",
  ]);
  expect(gate.exceptions).toEqual([
    { name: "offsite-backup", by: "viktor", reason: "the offsite NAS is pruned next week", untilMs: offsite.untilMs },
  ]);
});

test("a full disk of a node still holds the reboot, and an exception that has expired counts for nothing", () => {
  expect(masterAt0340([alerts[2]!], [offsite]).verdict).toBe("Allow");
  expect(masterAt0340([alerts[2]!, nodeDisk], [offsite]).reasons).toMatchObject([
    { code: "FiringAlert", object: "Alert/alertname=NodeFilesystemFull,mountpoint=/,instance=k8s-node1:9100" },
  ]);
  expect(masterAt0340([alerts[2]!], [{ ...offsite, untilMs: gateNowMs }]).verdict).toBe("Deny");
});
