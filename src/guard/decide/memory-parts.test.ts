import { expect, test } from "bun:test";
import type { CniDaemon } from "../facts/guard-settings.ts";
import type { ApplicationFacts, DaemonSetFacts, ProjectFacts, World } from "../facts/world.ts";
import { multus, outage } from "../outage.fixture.ts";
import { argoOwners } from "./argo-owners.ts";
import { memoryParts } from "./memory-parts.ts";
import { placeSteps } from "./step-draft.ts";

const daemon: CniDaemon = { namespace: "kube-system", daemonSet: "kube-multus-ds", container: "kube-multus" };
const label = "kube-system/kube-multus-ds";
const project: ProjectFacts = { namespace: "argocd", name: "default", syncWindows: [], sourceNamespaces: [] };
const unmarked: DaemonSetFacts = { ...multus, trackedBy: "", instance: "" };

function application(changes: Partial<ApplicationFacts> = {}): ApplicationFacts {
  return { ...outage().applications[0]!, owns: [], ...changes };
}

function owners(
  daemonSet: DaemonSetFacts,
  applications: readonly ApplicationFacts[],
  more: Partial<World> = {},
): string[] {
  return argoOwners(daemonSet, outage({ applications, projects: [project], ...more })).map(
    ({ application: one, projectNamespace }) => `${one.namespace}/${one.name} held in ${projectNamespace}`,
  );
}

for (const [what, daemonSet, found] of [
  ["its list of resources alone", unmarked, application({ owns: [label] })],
  ["the tracking annotation alone", { ...unmarked, trackedBy: "infra-multus" }, application()],
  ["the instance label alone", { ...unmarked, instance: "infra-multus" }, application()],
  ["the annotation with its namespace", { ...unmarked, trackedBy: "argocd_infra-multus" }, application()],
] as const) {
  test(`argoOwners finds an Application by ${what}`, () => {
    expect(owners(daemonSet, [application({ name: "other" }), found])).toEqual(["argocd/infra-multus held in argocd"]);
  });
}

test("argoOwners does not mistake an Application of the same name elsewhere for the owner", () => {
  const fake = application({ namespace: "team-x", isAutomated: false, owns: [label] });
  expect(owners(multus, [fake])).toEqual([]);
  expect(owners(multus, [fake, application()])).toEqual(["argocd/infra-multus held in argocd"]);
  // Another project in a namespace does not make it Argo CD's.
  const theirs: ProjectFacts = { ...project, namespace: "team-x", name: "mine", sourceNamespaces: ["*"] };
  expect(owners(multus, [{ ...fake, project: "mine" }, application()], { projects: [theirs, project] })).toEqual([
    "argocd/infra-multus held in argocd",
  ]);
});

test("argoOwners counts an Application in another namespace once its project allows that, and holds it in Argo CD's namespace", () => {
  const elsewhere = application({ namespace: "team-net", project: "net", owns: [label] });
  const mark = { ...unmarked, trackedBy: "team-net_infra-multus" };
  for (const [pattern, isLet] of [
    ["team-net", true],
    ["team-*", true],
    ["*", true],
    ["t*-n*t", true],
    ["/^team-/", true],
    ["team", false],
    ["team-*-net", false],
    ["*-x", false],
  ] as const) {
    const projects = [project, { ...project, name: "net", sourceNamespaces: [pattern] }];
    const expected = isLet ? ["team-net/infra-multus held in argocd"] : [];
    expect([pattern, owners(mark, [elsewhere], { projects })]).toEqual([pattern, expected]);
    expect([pattern, owners(unmarked, [elsewhere], { projects })]).toEqual([pattern, expected]);
  }
});

/** The steps by action with what they hold, and the notes. */
function parts(facts: Partial<World>): { steps: string[]; notes: string } {
  const { holds, changes, locks, notes } = memoryParts([daemon], outage(facts));
  const steps = placeSteps([...holds, ...changes, ...locks], "recover-fc-desktop-1", "levee-system");
  const named = steps.map((step) =>
    step.action === "HoldArgoApp" ? `hold ${step.holdArgoApp.namespace}/${step.holdArgoApp.application}` : step.action,
  );
  return { steps: named, notes: notes.join("\n") };
}

test("memoryParts holds every owner when they disagree, calls each armed, and leaves git to a person", () => {
  const listed = application({ name: "cni-stack", owns: [label], isAutomated: false });
  const { steps, notes } = parts({ applications: [application(), listed] });
  expect(steps).toEqual(["hold argocd/infra-multus", "hold argocd/cni-stack", "SetMemoryLimit"]);
  expect(notes).toContain(`2 Applications claim to own ${label} (argocd/infra-multus, argocd/cni-stack)`);
  expect(notes).toContain("each may revert the change");
  expect(notes).toContain("It is uncertain which file in git holds the limit");
});

test("memoryParts notes an annotation that names an unknown Application", () => {
  const daemonSets = [{ ...multus, trackedBy: "gone" }];
  const { steps, notes } = parts({ daemonSets, applications: [application({ owns: [label] })] });
  expect(steps).toEqual(["hold argocd/infra-multus", "SetMemoryLimit"]);
  expect(notes).toContain(
    "is marked as owned by the Application gone, which this guard cannot see: it may revert the change",
  );
});

test("memoryParts notes that no Application owns the DaemonSet", () => {
  const { steps, notes } = parts({ daemonSets: [unmarked], applications: [application({ name: "shop" })] });
  expect(steps).toEqual(["SetMemoryLimit"]);
  expect(notes).toContain(`None of 1 Argo CD Applications seems to own ${label}, so nothing is held`);
  expect(parts({ daemonSets: [unmarked], applications: [] }).notes).not.toContain("Argo CD");
});

for (const name of ["--all", "-n", "", "a b", "Default", "x'; reboot", "a".repeat(254)]) {
  test(`memoryParts refuses the project name ${JSON.stringify(name.slice(0, 12))}, and leaves the memory as it is`, () => {
    const { steps, notes } = parts({ applications: [application({ project: name })] });
    expect(steps).toEqual([]);
    expect(notes).toContain("is not a valid name");
  });
}

test("memoryParts proposes no change for a DaemonSet that too many Applications claim", () => {
  const applications = Array.from({ length: 5 }, (_, index) => application({ name: `a-${index}`, owns: [label] }));
  const { steps, notes } = parts({ daemonSets: [unmarked], applications });
  expect(steps).toEqual([]);
  expect(notes).toContain("5 Argo CD Applications claim to own it (argocd/a-0, argocd/a-1, argocd/a-2, argocd/a-3, …)");
});

test("memoryParts notes that a change restarts nothing with OnDelete", () => {
  const { steps, notes } = parts({ daemonSets: [{ ...multus, updatesOnDelete: true }] });
  expect(steps).toContain("SetMemoryLimit");
  expect(notes).toContain("the new limit restarts nothing by itself. Delete its pods");
});
