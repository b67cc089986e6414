import { expect, test } from "bun:test";
import { KubeError } from "../../../kube/client/api.ts";
import { stuckPod } from "../../world.fixture.ts";
import { argoProject, daemonSet, multusPath, projectPath, rejectionText, Repair } from "./repair.fixture.ts";
import { setMemoryLimitRunner as runner } from "./set-memory-limit.ts";

function lost(): never {
  throw new KubeError("api-unreachable", "the connection was cut");
}

/** The DaemonSet after the plan's raise, with what was before. */
function raised({ decision }: Repair): object {
  const mark = `uid-multus 50Mi 50Mi 1Gi 512Mi ${decision.status?.startedAt} -`;
  return daemonSet("1Gi", { request: "512Mi", mark });
}

async function pass(repair: Repair, seconds: number): Promise<void> {
  for (let second = 0; second < seconds; second += 1) await repair.clock.advance(1_000);
}

test("setMemoryLimitRunner makes a dry run, writes its intent, then patches once", async () => {
  const repair = new Repair();
  const step = repair.step("SetMemoryLimit");
  expect(await runner.precondition(step, repair.context())).toBeUndefined();
  expect(await runner.rehearse(step, repair.context())).toBeUndefined();
  expect(repair.server.objects.get(multusPath)).toEqual(daemonSet("50Mi"));
  expect(await runner.perform(step, repair.context())).toMatchObject({ message: expect.stringContaining("has 1Gi") });
  expect(repair.server.objects.get(multusPath)).toEqual(raised(repair));
  expect(repair.intents).toEqual([["uid-multus"]]);
  const patches = repair.server.requests.filter(({ method }) => method === "PATCH");
  expect(patches.map(({ path }) => path)).toEqual([`${multusPath}?dryRun=All`, multusPath]);
  expect(patches[1]?.contentType).toBe("application/json-patch+json");
  expect(await runner.check(step, repair.context())).toBeUndefined();
  // Again, as after a pause or under another leader.
  expect(await runner.precondition(step, repair.context())).toBeUndefined();
  expect(await runner.rehearse(step, repair.context())).toBeUndefined();
  await runner.perform(step, repair.context());
  expect(repair.server.writes).toBe(1);
});

test("setMemoryLimitRunner reports the limit that another client set between read and write", async () => {
  const repair = new Repair();
  const step = repair.step("SetMemoryLimit");
  repair.server.before = ({ method }) => {
    if (method === "PATCH") repair.server.objects.set(multusPath, daemonSet("256Mi"));
  };
  const found = "the memory limit of kube-multus in DaemonSet kube-system/kube-multus-ds is 256Mi, not 50Mi";
  expect(await runner.rehearse(step, repair.context())).toBe(`it has changed since it was read: ${found}`);
  repair.server.objects.set(multusPath, daemonSet());
  const performed = rejectionText(runner.perform(step, repair.context()));
  await pass(repair, 4);
  expect(await performed).toBe(`Cannot raise the limit: ${found}`);
  expect(repair.server.objects.get(multusPath)).toEqual(daemonSet("256Mi"));
});

test("setMemoryLimitRunner notices a DaemonSet that was replaced or is gone", async () => {
  const repair = new Repair();
  const step = repair.step("SetMemoryLimit");
  repair.server.objects.set(multusPath, daemonSet("50Mi", { uid: "uid-other" }));
  expect(await runner.precondition(step, repair.context())).toContain("was replaced");
  expect(await rejectionText(runner.perform(step, repair.context()))).toContain("was replaced");
  repair.server.objects.delete(multusPath);
  expect(await runner.precondition(step, repair.context())).toContain("is gone");
  expect(repair.server.writes).toBe(0);
});

test("setMemoryLimitRunner passes on a policy's refusal, and throws other errors", async () => {
  const repair = new Repair();
  const step = repair.step("SetMemoryLimit");
  repair.server.before = ({ method }) => {
    if (method !== "PATCH") return;
    throw new KubeError("api-refused", "the guard changes nothing else (levee-guard-changes-memory-only)", {
      status: 403,
    });
  };
  expect(await runner.rehearse(step, repair.context())).toContain("levee-guard-changes-memory-only");
  expect(await rejectionText(runner.perform(step, repair.context()))).toContain("levee-guard-changes-memory-only");
  repair.server.before = ({ method }) => (method === "PATCH" ? lost() : undefined);
  expect(await rejectionText(runner.rehearse(step, repair.context()))).toBe("the connection was cut");
});

test("setMemoryLimitRunner changes nothing twice when the answer is lost", async () => {
  const repair = new Repair();
  const step = repair.step("SetMemoryLimit");
  repair.server.after = ({ method }) => (method === "PATCH" ? lost() : undefined);
  const performed = runner.perform(step, repair.context());
  await pass(repair, 4);
  expect(await performed).toMatchObject({ message: expect.stringContaining("has 1Gi") });
  expect(repair.server.writes).toBe(1);
});

test("setMemoryLimitRunner does not fight another client that takes the limit back", async () => {
  const repair = new Repair();
  const step = repair.step("SetMemoryLimit");
  repair.server.after = ({ method, path }) => {
    if (method === "PATCH" && path === multusPath) repair.server.objects.set(multusPath, daemonSet("50Mi"));
  };
  await runner.perform(step, repair.context());
  expect(repair.server.writes).toBe(1);
  expect(await rejectionText(runner.check(step, repair.context()))).toContain("is now 50Mi, not 1Gi");
});

test("setMemoryLimitRunner gives up after five missing answers", async () => {
  const repair = new Repair();
  repair.server.before = ({ method }) => (method === "PATCH" ? lost() : undefined);
  const performed = rejectionText(runner.perform(repair.step("SetMemoryLimit"), repair.context()));
  await pass(repair, 20);
  expect(await performed).toBe("the connection was cut");
  expect(repair.server.writes).toBe(5);
});

test("setMemoryLimitRunner writes nothing and waits no longer once the hold is gone", async () => {
  const repair = new Repair();
  const step = repair.step("SetMemoryLimit");
  repair.server.objects.set(projectPath, argoProject(false));
  expect(await rejectionText(runner.perform(step, repair.context()))).toContain("no open window denies it");
  expect(repair.server.writes).toBe(0);
  repair.server.objects.set(multusPath, daemonSet("1Gi", { status: { numberReady: 1 } }));
  expect(await rejectionText(runner.check(step, repair.context()))).toContain("no open window denies it");
});

for (const [what, status, missing] of [
  [
    "a change that its controller has not seen",
    { observedGeneration: 1 },
    "its controller has not yet seen the newest change",
  ],
  ["old pods", { updatedNumberScheduled: 1 }, "1 of 3 pods have the newest revision"],
  ["pods that are not ready", { numberReady: 2 }, "2 of 3 pods are ready"],
] as const) {
  test(`setMemoryLimitRunner waits with ${what}`, async () => {
    const repair = new Repair();
    repair.server.objects.set(multusPath, daemonSet("1Gi", { status }));
    expect(await runner.check(repair.step("SetMemoryLimit"), repair.context())).toBe(missing);
  });
}

test("setMemoryLimitRunner asks a person to delete pods with the update strategy OnDelete", async () => {
  const repair = new Repair();
  const status = { updatedNumberScheduled: 0 };
  repair.server.objects.set(multusPath, daemonSet("1Gi", { status, strategy: "OnDelete" }));
  expect(await runner.check(repair.step("SetMemoryLimit"), repair.context())).toBe(
    "0 of 3 pods have the newest revision; its update strategy is OnDelete, so a person has to delete its pods one node after the other",
  );
});

test("setMemoryLimitRunner stops waiting when the limit was reverted", async () => {
  const repair = new Repair();
  repair.server.objects.set(multusPath, daemonSet("50Mi"));
  expect(await rejectionText(runner.check(repair.step("SetMemoryLimit"), repair.context()))).toContain(
    "is now 50Mi, not 1Gi",
  );
});

test("setMemoryLimitRunner counts only OOM kills of pods created after the change", async () => {
  const repair = new Repair();
  const step = repair.step("SetMemoryLimit");
  await runner.perform(step, repair.context());
  const nowMs = repair.clock.wallMs();
  const daemon = { namespace: "kube-system", owner: "DaemonSet/kube-multus-ds", shape: "", oomKilledMs: nowMs };
  repair.facts = { pods: [stuckPod("old", { ...daemon, createdMs: nowMs - 60_000 })] };
  expect(await runner.check(step, repair.context())).toBeUndefined();
  repair.facts = { pods: [stuckPod("new", { ...daemon, createdMs: nowMs + 60_000 })] };
  expect(await runner.check(step, repair.context())).toBe("new on rke2-agent1 was OOM-killed again");
});

test("setMemoryLimitRunner changes the request with the limit, and names a request that another client set", async () => {
  const repair = new Repair();
  const step = repair.step("SetMemoryLimit");
  await runner.perform(step, repair.context());
  expect(repair.server.objects.get(multusPath)).toEqual(raised(repair));
  repair.server.objects.set(multusPath, daemonSet("1Gi", { request: "50Mi" }));
  expect(await rejectionText(runner.check(step, repair.context()))).toContain(
    "the memory request of kube-multus in DaemonSet kube-system/kube-multus-ds is now 50Mi, not 512Mi",
  );
  repair.server.objects.set(multusPath, daemonSet("50Mi", { request: "64Mi" }));
  expect(await runner.precondition(step, repair.context())).toBe(
    "the memory request of kube-multus in DaemonSet kube-system/kube-multus-ds is 64Mi, not 50Mi",
  );
});
