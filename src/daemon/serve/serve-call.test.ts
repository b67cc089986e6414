import { expect, test } from "bun:test";
import { LeveeError } from "../../base/errors.ts";
import { silentLogger } from "../../base/log.ts";
import type { Call } from "./call.ts";
import { serveCall, type ServeNeeds } from "./serve-call.ts";

/** The containers that count as settled after an ADD that fails, begun anew or resumed. */
async function settledAfter(resumed: Call["resumed"]): Promise<readonly string[]> {
  const settled: string[] = [];
  const header = { verb: "ADD", containerId: "c1", ifname: "eth0", netns: "/a", cniArgs: "", cniPath: "/bin" };
  const call = {
    header,
    resumed,
    hand: { isLost: false },
    ageMs: () => 0,
    refuse: () => undefined,
  } as unknown as Call; // only what a refused call uses
  const fail = { serve: () => Promise.reject(new LeveeError("hand-lost", "only the shim can undo it")) };
  const needs = {
    verbs: { add: fail, resume: fail },
    calls: { began: () => undefined, ended: () => undefined },
    timeline: { note: () => undefined },
    logger: silentLogger,
    callLog: { log: () => undefined },
    journal: { addFailed: (id: string) => void settled.push(id) },
    offline: { ready: Promise.resolve() },
  } as unknown as ServeNeeds; // only what a refused call uses
  await serveCall(call, needs);
  return settled;
}

test("serveCall: a refused ADD leaves nothing, but a refused RESUME may: its DEL must look", async () => {
  expect(await settledAfter(undefined)).toEqual(["c1"]);
  expect(await settledAfter({} as NonNullable<Call["resumed"]>)).toEqual([]);
});
