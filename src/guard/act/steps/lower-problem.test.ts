import { expect, test } from "bun:test";
import { silentLogger } from "../../../base/log.ts";
import { daemons, mebibyte, raised, views, Watch } from "../../decide/lower/calm.fixture.ts";
import { proposeLower } from "../../decide/lower/propose-lower.ts";
import type { Decision } from "../../decision/decision.ts";
import type { SetMemoryLimitStep, VerifyStep } from "../../decision/step.ts";
import { defaultGuardSettings as settings } from "../../facts/guard-settings.ts";
import type { DaemonSetFacts, World } from "../../facts/world.ts";
import { timeText } from "../../json-values.ts";
import { minuteMs } from "../../world.fixture.ts";
import type { StepContext } from "../step-runner.ts";
import { daemonSet, multusPath, rejectionText, Repair } from "./repair.fixture.ts";
import { setMemoryLimitRunner } from "./set-memory-limit.ts";
import { verifyRunner } from "./verify.ts";

const began = "2026-05-17T21:30:00Z";
const mark = "uid-multus 50Mi 50Mi 1Gi 512Mi 2026-05-01T10:00:00Z -";

/** A DaemonSet that a recovery has raised, a calm week, and the approved way back. */
class Lowering {
  readonly repair = new Repair();
  readonly watch = new Watch().days(7.2);
  facts: Partial<World> = {};
  readonly decision: Decision;
  readonly step: SetMemoryLimitStep;
  readonly verify: VerifyStep;
  doneMs = 0;

  constructor() {
    const [proposal] = proposeLower(this.watch.world(), settings);
    const { spec } = proposal!;
    const status = { phase: "Running", message: "", fence: 1, leader: "a", since: began, startedAt: began } as const;
    const metadata = { name: proposal!.name, namespace: "levee-system", uid: "uid-decision" };
    this.decision = { apiVersion: "levee.dev/v1alpha1", kind: "Decision", metadata, spec, status };
    this.step = spec.steps.find((step) => step.action === "SetMemoryLimit")!;
    this.verify = spec.steps.find((step) => step.action === "Verify")!;
    this.repair.server.objects.set(multusPath, daemonSet("1Gi", { mark }));
  }

  context(): StepContext {
    const { doneMs, step } = this;
    const at = timeText(doneMs);
    const steps = doneMs === 0 ? [] : [{ id: step.id, phase: "Done", message: "", at } as const];
    const decision = { ...this.decision, status: { ...this.decision.status!, steps } };
    const world = (): World => this.watch.world(this.facts);
    return { ...this.repair.context(), decision, world, logger: silentLogger, settings };
  }

  /** The memory went down, and every daemon has told its new limit since. */
  done(memory = 80 * mebibyte): void {
    this.repair.server.objects.set(multusPath, daemonSet("256Mi", { request: "128Mi" }));
    this.doneMs = this.watch.nowMs;
    this.watch.nowMs += 11 * minuteMs;
    const now: DaemonSetFacts = {
      ...raised,
      containers: [{ name: "kube-multus", memoryLimit: "256Mi", memoryRequest: "128Mi" }],
      memoryMarks: { "kube-multus": { ...raised.memoryMarks!["kube-multus"]!, limit: "256Mi", request: "128Mi" } },
    };
    const told = { memoryBytes: memory, memoryLimitBytes: 256 * mebibyte };
    this.facts = { daemonSets: [now], nodeViews: views(this.watch.nowMs, told) };
  }
}

test("setMemoryLimitRunner lowers the memory in calm, and writes down what was before and what was seen", async () => {
  const lowering = new Lowering();
  const { step, repair } = lowering;
  expect(await setMemoryLimitRunner.precondition(step, lowering.context())).toBeUndefined();
  expect(await setMemoryLimitRunner.rehearse(step, lowering.context())).toBeUndefined();
  await setMemoryLimitRunner.perform(step, lowering.context());
  const note = `uid-multus 50Mi 50Mi 256Mi 128Mi ${began} 100Mi`;
  expect(repair.server.objects.get(multusPath)).toEqual(daemonSet("256Mi", { request: "128Mi", mark: note }));
  expect(repair.server.writes).toBe(1);
  // Again, as under another leader, when the world has the new limit and no calm of it yet.
  lowering.done();
  expect(await setMemoryLimitRunner.precondition(step, lowering.context())).toBeUndefined();
});

for (const [what, change, words] of [
  ["a kill", (watch: Watch) => watch.look({ pods: daemons({ oomKilledMs: watch.nowMs }) }), "it has been calm since"],
  ["a gap", (watch: Watch) => void (watch.nowMs += 31 * minuteMs), "it is not known what every pod of it uses"],
  ["a record that is lost", (watch: Watch) => void (watch.calm = undefined), "it is not known how calm it was"],
  [
    "a higher use",
    (watch: Watch) => watch.look({ nodeViews: views(watch.nowMs, { memoryBytes: 200 * mebibyte }) }),
    "one of its pods used 200Mi since, too much for 256Mi",
  ],
] as const) {
  test(`setMemoryLimitRunner lowers nothing after ${what}`, async () => {
    const lowering = new Lowering();
    change(lowering.watch);
    const { step, repair } = lowering;
    expect(await setMemoryLimitRunner.precondition(step, lowering.context())).toContain(words);
    expect(await setMemoryLimitRunner.rehearse(step, lowering.context())).toContain(words);
    expect(await rejectionText(setMemoryLimitRunner.perform(step, lowering.context()))).toStartWith(
      "Cannot lower the limit: ",
    );
    expect(repair.server.writes).toBe(0);
  });
}

test("setMemoryLimitRunner lowers nothing that a person has changed since", async () => {
  const lowering = new Lowering();
  lowering.facts = { daemonSets: [{ ...raised, memoryMarks: {} }] };
  expect(await setMemoryLimitRunner.precondition(lowering.step, lowering.context())).toBe(
    "its memory is not as the guard has set it, so what it was before is not known",
  );
});

test("verifyRunner watches a daemon with less memory until the time is over and every pod has told its use", async () => {
  const lowering = new Lowering();
  const missing = (): Promise<string | undefined> => verifyRunner.check(lowering.verify, lowering.context());
  lowering.done();
  expect(await missing()).toBeUndefined();
  lowering.facts = { ...lowering.facts, nodeViews: lowering.facts.nodeViews!.slice(1) };
  expect(await missing()).toContain("1 of its pods have not told what they use since the change");
  lowering.done();
  lowering.watch.nowMs -= 5 * minuteMs;
  expect(await missing()).toContain("MemoryEnough kube-system/kube-multus-ds: it is watched until");
  lowering.doneMs = 0;
  expect(await missing()).toContain("it is not known when its memory was changed");
});

test("verifyRunner pauses at once after a kill or close to the limit, with the line that goes up again", async () => {
  const lowering = new Lowering();
  const line =
    "kubectl -n kube-system set resources daemonset/kube-multus-ds -c kube-multus --limits=memory=1Gi --requests=memory=512Mi";
  const refusal = (): Promise<string> => rejectionText(verifyRunner.check(lowering.verify, lowering.context()));
  lowering.done(200 * mebibyte);
  expect(await refusal()).toContain(`the daemon on rke2-agent1 uses 200Mi of 256Mi; to go up again: ${line}`);
  lowering.done();
  lowering.facts = { ...lowering.facts, pods: daemons({ oomKilledMs: lowering.watch.nowMs }) };
  expect(await refusal()).toContain("kube-multus-ds-rke2-agent1 on rke2-agent1 was killed for memory; to go up again");
});
