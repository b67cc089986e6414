import { expect, test } from "bun:test";
import { explainOutcome, isOomKill } from "./explain-outcome.ts";
import { outcome } from "./outcome.fixture.ts";

const context = { verb: "ADD", network: "default/lan", ifname: "net1", plugin: "bridge", timeoutMs: 25_000 };

test("explainOutcome has nothing to say of a success", () => {
  expect(explainOutcome(outcome(), context)).toBeUndefined();
});

test("explainOutcome passes the plugin's own code, message and details on, prefixed by network and interface", () => {
  const stdout = Buffer.from('{"cniVersion":"1.0.0","code":11,"msg":"no address left","details":"range 10.0.0.0/24"}');
  expect(explainOutcome(outcome({ exitCode: 1, stdout }), context)).toMatchObject({
    cniCode: 11,
    message: "default/lan (net1): no address left",
    details: "range 10.0.0.0/24",
  });
});

test("explainOutcome gives stderr as details when the plugin left no CNI error", () => {
  expect(
    explainOutcome(outcome({ exitCode: 2, stderr: "panic: oh\n", stdout: Buffer.from("junk") }), context),
  ).toMatchObject({
    code: "delegate-failed",
    message: "default/lan (net1): bridge failed with exit code 2 and no CNI error",
    details: "panic: oh",
  });
});

test("explainOutcome names a timeout and its limit", () => {
  expect(explainOutcome(outcome({ exitCode: undefined, signal: 9, timedOut: true }), context)).toMatchObject({
    code: "delegate-timeout",
    message: expect.stringContaining("ran longer than 25000 ms"),
  });
});

test("explainOutcome names the OOM killer only when a kill was counted", () => {
  const killed = { exitCode: undefined, signal: 9 };
  expect(explainOutcome(outcome({ ...killed, oomCgroup: 1, cgroupLimit: 1_048_576 }), context)).toMatchObject({
    code: "delegate-oom",
    message: expect.stringContaining("its cgroup may use 1048576 bytes"),
  });
  expect(explainOutcome(outcome(killed), context)).toMatchObject({
    code: "delegate-failed",
    message: expect.stringContaining("signal 9"),
  });
});

test("explainOutcome names the OOM killer when a plugin says that one it called was killed, and a kill was counted", () => {
  const msg = 'plugin type=\\"host-local\\" failed (add): netplugin failed with no error message: signal: killed';
  const failed = { exitCode: 1, stdout: Buffer.from(`{"cniVersion":"1.0.0","code":999,"msg":"${msg}"}`) };
  expect(explainOutcome(outcome({ ...failed, oomCgroup: 1, cgroupLimit: 1_048_576 }), context)).toMatchObject({
    code: "delegate-oom",
    message: expect.stringMatching(
      /^default\/lan \(net1\): a plugin that bridge called was killed .* 1048576 bytes; bridge said: plugin type="host-local"/u,
    ),
  });
  expect(explainOutcome(outcome(failed), context)).toMatchObject({ code: "delegate-failed", cniCode: 999 });
});

test.each([
  ["a plugin past its time", { signal: 9, timedOut: true }],
  ["one that was ended with its call", { signal: 9, failure: "killed" as const }],
  [
    "one that says that we killed what it called",
    { exitCode: 1, timedOut: true, stdout: Buffer.from("signal: killed") },
  ],
])("isOomKill does not take our own kill for the kernel's: %s", (_what, facts) => {
  const kills = { exitCode: undefined, oomCgroup: 1, oomNode: 1 };
  expect(isOomKill(outcome({ ...kills, ...facts }))).toBe(false);
  expect(isOomKill(outcome({ ...kills, ...facts, timedOut: false, failure: undefined }))).toBe(true);
});

test("explainOutcome tells of kills in the plugin's cgroup beside an error of its own", () => {
  const stdout = Buffer.from('{"cniVersion":"1.0.0","code":11,"msg":"no answer"}');
  expect(explainOutcome(outcome({ exitCode: 1, stdout, oomCgroup: 2 }), context)).toMatchObject({
    code: "delegate-failed",
    cniCode: 11,
    message:
      "default/lan (net1): no answer; meanwhile the kernel killed 2 processes of its cgroup because memory ran out",
  });
});

test("explainOutcome tells a missing program from one that could not be run", () => {
  expect(
    explainOutcome(
      outcome({ exitCode: undefined, failure: "missing", message: "bridge is not in /opt/cni/bin" }),
      context,
    ),
  ).toMatchObject({
    code: "delegate-missing",
    message: "default/lan (net1): Cannot run bridge for ADD: bridge is not in /opt/cni/bin",
  });
  for (const failure of ["busy", "exec"] as const)
    expect(explainOutcome(outcome({ exitCode: undefined, failure }), context)).toMatchObject({
      code: "delegate-unrunnable",
      message: expect.stringContaining(failure),
    });
  expect(explainOutcome(outcome({ exitCode: undefined, failure: "refused" }), context)).toMatchObject({
    code: "delegate-failed",
  });
});

test("explainOutcome says to try later when the hand had too much to do, and only then", () => {
  const refused = { exitCode: undefined, failure: "refused", message: "Cannot run more than 8 plugins" } as const;
  expect(explainOutcome(outcome({ ...refused, errno: 11 }), context)).toMatchObject({ code: "try-later" });
  expect(explainOutcome(outcome(refused), context)).toMatchObject({ code: "delegate-failed" });
});

test("explainOutcome takes a plugin that the daemon had killed because it hung for one that ran too long", () => {
  expect(explainOutcome(outcome({ signal: 9, failure: "killed", wallUs: 26_000_000 }), context)).toMatchObject({
    code: "delegate-timeout",
    message: "default/lan (net1): bridge was killed with its children because it ran longer than 26000 ms",
  });
});
