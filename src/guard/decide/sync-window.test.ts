import { expect, test } from "bun:test";
import type { ApplicationFacts, SyncWindow } from "../facts/world.ts";
import { cronMatches } from "./cron-schedule.ts";
import { revertState } from "./sync-window.ts";

/** A Sunday, 19:00 UTC. */
const nowMs = Date.parse("2026-05-10T19:00:30Z");

for (const [schedule, fires] of [
  ["* * * * *", true],
  ["0 19 * * *", true],
  ["0 19 10 5 *", true],
  ["0 19 10 5 1", true],
  ["0 19 11 5 0", true],
  ["0 19 11 5 7", true],
  ["0 19 11 5 1", false],
  ["*/15 18-20 * * 0,6", true],
  ["5/15 * * * *", false],
  ["1 19 * * *", false],
  ["0 19 * * 1-5", false],
  ["0 19 * * SUN", false],
  ["60 19 * * *", false],
  ["0 19 * * */0", false],
  ["0,x 19 * * *", false],
  ["0 19 * *", false],
  ["@daily", false],
  ["", false],
] as const) {
  test(`cronMatches says ${fires} for "${schedule}" on a Sunday at 19:00`, () => {
    expect(cronMatches(schedule, nowMs)).toBe(fires);
  });
}

const application: ApplicationFacts = {
  namespace: "argocd",
  name: "infra-multus",
  project: "default",
  sync: "Unknown",
  comparisonErrorMs: 0,
  isAutomated: true,
  skipsReconcile: false,
  source: { repository: "", path: "", revision: "", isPlain: true },
  owns: [],
};

const always: SyncWindow = {
  kind: "deny",
  schedule: "* * * * *",
  duration: "1h",
  timeZone: "",
  applications: ["infra-multus"],
  needsAll: false,
};

function state(window: Partial<SyncWindow>, changes: Partial<ApplicationFacts> = {}): string {
  const project = {
    namespace: "argocd",
    name: "default",
    syncWindows: [{ ...always, ...window }],
    sourceNamespaces: [],
  };
  return revertState({ ...application, ...changes }, project, nowMs);
}

for (const [what, window, expected] of [
  ["a window that is always open", {}, "Held"],
  ["a window that began an hour ago and lasts two", { schedule: "0 18 * * *", duration: "2h" }, "Held"],
  ["a window that ended a minute ago", { schedule: "0 18 * * *", duration: "1h" }, "Armed"],
  ["a window of all Applications", { applications: ["*"] }, "Held"],
  ["a window of another Application", { applications: ["infra-other"] }, "Armed"],
  ["a window that allows", { kind: "allow" }, "Armed"],
  ["a window in another time zone", { timeZone: "Europe/Berlin" }, "Armed"],
  ["a window whose length is not understood", { duration: "forever" }, "Armed"],
  ["a window that asks for more than the name", { needsAll: true }, "Armed"],
  ["a window without a length", { duration: "" }, "Armed"],
] as const) {
  test(`revertState is ${expected} with ${what}`, () => {
    expect(state(window)).toBe(expected);
  });
}

test("revertState is Armed without windows, Off without automatic sync, Held when nothing is reconciled", () => {
  expect(revertState(application, undefined, nowMs)).toBe("Armed");
  expect(state({ kind: "allow" }, { isAutomated: false })).toBe("Off");
  expect(state({ kind: "allow" }, { skipsReconcile: true })).toBe("Held");
});
