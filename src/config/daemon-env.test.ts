import { expect, test } from "bun:test";
import { completedDaemonEnv, daemonEnv } from "./daemon-env.ts";

test("completedDaemonEnv adds every setting of the engine to what is there", () => {
  expect(completedDaemonEnv({ PATH: "/bin" })).toEqual({ PATH: "/bin", ...daemonEnv });
});

test("completedDaemonEnv keeps a variable that is set, and adds the others", () => {
  expect(completedDaemonEnv({ BUN_JSC_useJIT: "1" })).toEqual({ ...daemonEnv, BUN_JSC_useJIT: "1" });
});

test("completedDaemonEnv has nothing to add when all are set, whatever their values are", () => {
  expect(completedDaemonEnv(daemonEnv)).toBeUndefined();
  expect(completedDaemonEnv({ ...daemonEnv, BUN_JSC_useJIT: "1", BUN_GC_TIMER_DISABLE: "" })).toBeUndefined();
  const completed = completedDaemonEnv({});
  expect(completed === undefined ? undefined : completedDaemonEnv(completed)).toBeUndefined();
});
