import { expect, test } from "bun:test";
import { holdArgoAppRunner } from "./hold-argo-app.ts";
import { holdsProblem } from "./hold-seen.ts";
import {
  applicationPath,
  argoApplication,
  argoProject,
  daemonSet,
  multusPath,
  projectPath,
  Repair,
} from "./repair.fixture.ts";

const label = "Application argocd/infra-multus";

test("holdArgoAppRunner shows the line, made from the project as it is now, and waits until the hold is seen", async () => {
  const repair = new Repair();
  const step = repair.step("HoldArgoApp");
  repair.server.objects.set(projectPath, argoProject(false));
  expect(await holdArgoAppRunner.precondition(step, repair.context())).toBeUndefined();
  const { lines } = await holdArgoAppRunner.perform(step, repair.context());
  expect(lines?.[0]).toContain(
    'kubectl -n argocd patch appproject default --type=json -p \'[{"op":"add","path":"/spec/syncWindows","value":[{',
  );
  expect(await holdArgoAppRunner.check(step, repair.context())).toBe(
    `Argo CD may sync ${label} by itself: no open window denies it; a person has to type this step's line`,
  );
  // A window that holds nothing: the list exists now.
  const spec = { syncWindows: [{ kind: "allow", schedule: "* * * * *", duration: "1h", applications: ["*"] }] };
  repair.server.objects.set(projectPath, { metadata: { name: "default", namespace: "argocd" }, spec });
  expect((await holdArgoAppRunner.perform(step, repair.context())).lines?.[0]).toContain(
    '"path":"/spec/syncWindows/-"',
  );
  expect(await holdArgoAppRunner.check(step, repair.context())).toContain("no open window denies it");
  repair.server.objects.set(projectPath, argoProject(true));
  expect(await holdArgoAppRunner.check(step, repair.context())).toBeUndefined();
  expect(await holdArgoAppRunner.perform(step, repair.context())).toEqual({
    message: "Argo CD does not sync argocd/infra-multus by itself",
  });
  expect(repair.server.writes).toBe(0);
});

test("holdArgoAppRunner does not begin without its Application, or with one in another project", async () => {
  const repair = new Repair();
  const step = repair.step("HoldArgoApp");
  repair.server.objects.set(applicationPath, argoApplication({ project: "other" }));
  expect(await holdArgoAppRunner.precondition(step, repair.context())).toContain("is no longer in project default");
  repair.server.objects.delete(applicationPath);
  expect(await holdArgoAppRunner.precondition(step, repair.context())).toContain(`${label} is gone`);
});

test("holdsProblem sees a hold that ended, a project that is gone, an Application that was moved or deleted", async () => {
  const repair = new Repair();
  const step = repair.step("SetMemoryLimit");
  const look = (): Promise<string | undefined> => holdsProblem(step, repair.context());
  expect(await look()).toBeUndefined();
  repair.server.objects.set(projectPath, argoProject(false));
  expect(await look()).toBe(`Argo CD may sync ${label} by itself: no open window denies it`);
  repair.server.objects.delete(projectPath);
  expect(await look()).toContain("there is no AppProject argocd/default");
  repair.server.objects.set(applicationPath, argoApplication({ project: "other" }));
  expect(await look()).toContain("is now in another project");
  repair.server.objects.delete(applicationPath);
  expect(await look()).toContain(`${label} is gone`);
  // Without automatic syncs no hold is needed.
  repair.server.objects.set(applicationPath, argoApplication({ syncPolicy: {} }));
  expect(await look()).toBeUndefined();
});

test("holdsProblem ignores the hold's own step and the steps before it", async () => {
  const repair = new Repair();
  repair.server.objects.set(projectPath, argoProject(false));
  expect(await holdsProblem(repair.step("HoldArgoApp"), repair.context())).toBeUndefined();
  expect(await holdsProblem(repair.step("RemovePods"), repair.context())).toContain("may sync");
  repair.mark("HoldArgoApp", "Running");
  expect(await holdsProblem(repair.step("RemovePods"), repair.context())).toBeUndefined();
});

test("holdsProblem lets a hold end once git has the value, as long as the live value stays", async () => {
  const repair = new Repair();
  const verify = repair.step("Verify");
  repair.server.objects.set(projectPath, argoProject(false));
  repair.server.objects.set(multusPath, daemonSet("1Gi"));
  repair.mark("LockToGit", "Waiting");
  expect(await holdsProblem(verify, repair.context())).toContain("may sync");
  repair.mark("LockToGit", "Done");
  expect(await holdsProblem(verify, repair.context())).toBeUndefined();
  repair.server.objects.set(multusPath, daemonSet("50Mi"));
  expect(await holdsProblem(verify, repair.context())).toBe(
    "the memory limit of kube-multus in DaemonSet kube-system/kube-multus-ds is now 50Mi, not 1Gi",
  );
});
