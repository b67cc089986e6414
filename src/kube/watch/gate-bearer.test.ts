import { expect, test } from "bun:test";
import { bearsGate } from "./gate-bearer.ts";

const ownerReferences = [{ kind: "DaemonSet", name: "levee", controller: true }];

test("bearsGate knows the pods of the daemon and the hand by account and owner, whatever their labels", () => {
  for (const serviceAccountName of ["levee", "levee-hand"])
    expect(bearsGate({ ownerReferences, labels: {} }, { serviceAccountName })).toBe(true);
});

test("bearsGate knows no other pod: of another account, started by a person, or without anything", () => {
  expect(bearsGate({ ownerReferences }, { serviceAccountName: "levee-guard" })).toBe(false);
  expect(bearsGate({}, { serviceAccountName: "levee" })).toBe(false);
  expect(bearsGate({ ownerReferences: [{ kind: "Job" }, null] }, { serviceAccountName: "levee" })).toBe(false);
  expect(bearsGate({ ownerReferences: "DaemonSet" }, { serviceAccountName: "levee" })).toBe(false);
  expect(bearsGate({ ownerReferences }, {})).toBe(false);
});
