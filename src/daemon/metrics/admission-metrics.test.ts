import { expect, test } from "bun:test";
import { Admission } from "../../admission/admission.ts";
import type { AdmissionRequest } from "../../admission/request.ts";
import { settle, VirtualClock } from "../../base/virtual-clock.fixture.ts";
import { RulingFeed } from "../record/ruling-feed.ts";
import { countRulings, registerAdmission } from "./admission-metrics.ts";
import { MetricsRegistry } from "./metrics-registry.ts";

function setUp(): { readonly clock: VirtualClock; readonly admission: Admission; readonly metrics: MetricsRegistry } {
  const clock = new VirtualClock();
  const rulings = new RulingFeed();
  const limits = { attachCeiling: 1, waitingMax: 2 };
  const admission = new Admission({ clock, limits, onRuling: (ruling) => rulings.emit(ruling) });
  const metrics = new MetricsRegistry();
  countRulings(metrics, rulings);
  registerAdmission(metrics, { clock, admission });
  return { clock, admission, metrics };
}

function pod(name: string, changes: Partial<AdmissionRequest> = {}): AdmissionRequest {
  const wants = (): string => name;
  return { kind: "attach", namespace: "a", pod: name, priority: undefined, networks: ["n"], wants, ...changes };
}

test("countRulings counts every outcome by class, from zero on", async () => {
  const { clock, admission, metrics } = setUp();
  expect(metrics.render()).toContain('levee_admissions_total{class="penalty",outcome="expired"} 0\n');
  const lost = new AbortController();
  using _first = await admission.admit(pod("first"), new AbortController().signal);
  const gone = admission.admit(pod("gone"), lost.signal).catch(() => "gone");
  const late = admission.admit(pod("late"), new AbortController().signal).catch(() => "late");
  const full = admission.admit(pod("full"), new AbortController().signal).catch(() => "full");
  expect(await full).toBe("full");
  await clock.advance(2_000);
  expect(metrics.render()).toContain('levee_waiting{kind="attach",class="ordinary"} 2\n');
  expect(metrics.render()).toContain("levee_oldest_wait_seconds 2\n");
  lost.abort(new Error("the caller went away"));
  expect(await gone).toBe("gone");
  await clock.advance(70_000);
  expect(await late).toBe("late");
  await settle();
  const text = metrics.render();
  for (const line of [
    'levee_admissions_total{class="ordinary",outcome="admitted"} 1',
    'levee_admissions_total{class="ordinary",outcome="queued"} 2',
    'levee_admissions_total{class="ordinary",outcome="refused"} 1',
    'levee_admissions_total{class="ordinary",outcome="cancelled"} 1',
    'levee_admissions_total{class="ordinary",outcome="expired"} 1',
    'levee_wait_seconds_bucket{class="ordinary",le="0.001"} 1',
    'levee_wait_seconds_bucket{class="ordinary",le="2"} 2',
    'levee_wait_seconds_count{class="ordinary"} 3',
    'levee_waiting{kind="attach",class="ordinary"} 0',
    'levee_running{kind="attach"} 1',
    'levee_slots{kind="attach"} 1',
    'levee_slots_ceiling{kind="attach"} 1',
    'levee_memory_state{state="free"} 1',
    'levee_memory_state{state="frozen"} 0',
    'levee_host_pressure{level="calm"} 1',
  ])
    expect(text).toContain(`${line}\n`);
});

test("registerAdmission shows pods that are held and networks that fail", async () => {
  const { admission, metrics, clock } = setUp();
  const { signal } = new AbortController();
  for (const name of ["x", "y", "z"]) {
    using permit = await admission.admit(pod(name), signal);
    permit.settle({ cause: "network", network: "n", reason: "no" });
  }
  admission.charge(pod("own"), { cause: "own", reason: "a bad annotation" });
  expect(await admission.admit(pod("own", { networks: [] }), signal).catch(() => "held")).toBe("held");
  await clock.advance(200);
  const text = metrics.render();
  for (const line of [
    'levee_admissions_total{class="ordinary",outcome="held"} 1',
    'levee_admission_events_total{event="network-opened"} 1',
    'levee_admission_events_total{event="oom-killed"} 0',
    "levee_networks_half_open 1",
    "levee_held_pods 1",
  ])
    expect(text).toContain(`${line}\n`);
});
