import { expect, test } from "bun:test";
import { LeveeError } from "../base/errors.ts";
import type { ContainerId, IfName, JsonText, NetworkName, PluginType } from "../base/brand.ts";
import type { Chain } from "../cni/chain.ts";
import type { RunOrder } from "../wire/messages.ts";
import type { Outcome } from "../wire/outcome.ts";
import type { Hand } from "./hand.ts";
import { outcome } from "./outcome.fixture.ts";
import { runDel } from "./run-del.ts";

const text = (value: string): JsonText => value as JsonText;
const config = text(
  '{"cniVersion":"1.0.0","name":"lan","plugins":[{"type":"a"},{"type":"b","capabilities":{"x":true}},{"type":"c"}]}',
);

/** Three plugins, of which `b` gets a value from the pod. */
const chain: Chain = {
  network: "default/lan" as NetworkName,
  confName: "lan",
  ifname: "net1" as IfName,
  cniVersion: "1.0.0",
  isDefault: false,
  cniArgs: "",
  links: ["a", "b", "c"].map((type) => ({
    type: type as PluginType,
    stdin: text(
      `{"type":"${type}","name":"lan","cniVersion":"1.0.0"${type === "b" ? ',"runtimeConfig":{"x":1}' : ""}}`,
    ),
  })),
  disableCheck: false,
  disableGC: false,
  routes: { dropV4: false, dropV6: false, gateways: [] },
  multus: { config, isList: true, capabilityArgs: { x: text("1") }, request: {} },
};

function failing(msg: string): Outcome {
  return outcome({ exitCode: 1, stdout: Buffer.from(JSON.stringify({ cniVersion: "1.0.0", code: 7, msg })) });
}

/** Runs DEL with plugins that answer as `answer` says, and tells what ran and what failed. */
async function run(answer: (order: RunOrder) => Outcome, options: Partial<Parameters<typeof runDel>[3]> = {}) {
  const ran: { plugin: string; timeoutMs: number; stdin: string }[] = [];
  const hand = {
    isLost: false,
    run: (order: RunOrder) => {
      ran.push({ plugin: order.plugin, timeoutMs: order.timeoutMs, stdin: Buffer.from(order.stdin).toString() });
      return Promise.resolve(answer(order));
    },
  } as unknown as Hand; // only what it uses
  const place = {
    containerId: "c1" as ContainerId,
    netns: "" as const,
    cniPath: "",
    remainingMs: () => 20_000,
    onRan: () => undefined,
  };
  const failures = await runDel(hand, chain, place, {
    result: undefined,
    linksDone: 3,
    linksAdded: 1,
    refusal: undefined,
    ...options,
  });
  return { ran, plugins: ran.map(({ plugin }) => plugin).join(""), failures };
}

const refusal = "default/lan (net1): bad value";
const refusesValue = (order: RunOrder): Outcome =>
  Buffer.from(order.stdin).includes('"x"') ? failing("bad value") : outcome();

test("runDel goes on past a failing link and tells which one it was", async () => {
  const { plugins, failures } = await run(({ plugin }) => (plugin === "c" ? failing("away") : outcome()));
  expect(plugins).toBe("cba");
  expect(failures).toEqual([{ at: 2, error: expect.any(LeveeError) as LeveeError }]);
});

test("runDel gives each link a share of the time, so that one that hangs leaves some for the others", async () => {
  const { ran } = await run(() => outcome());
  expect(ran.map(({ timeoutMs }) => timeoutMs)).toEqual([10_000, 15_000, 20_000]);
});

test("runDel deletes without the pod's values when the plugin refuses them as it did at ADD", async () => {
  const { plugins, ran, failures } = await run(refusesValue, { linksDone: 2, refusal });
  expect(plugins).toBe("bba");
  expect(ran[1]?.stdin).not.toContain("runtimeConfig");
  expect(failures).toEqual([]);
});

test.each([
  ["its ADD succeeded", { linksAdded: 2, refusal }],
  ["it says something else than at ADD", { refusal: "default/lan (net1): no room" }],
  ["its ADD is not known to have failed", {}],
])("runDel keeps the pod's values when %s", async (_why, options) => {
  const { plugins, failures } = await run(refusesValue, { linksDone: 2, ...options });
  expect(plugins).toBe("ba");
  expect(failures.map(({ at }) => at)).toEqual([1]);
});

test("runDel keeps the pod's values after a timeout, because the plugin may have done its work", async () => {
  const { plugins } = await run(
    ({ plugin }) => outcome(plugin === "b" ? { timedOut: true, exitCode: undefined } : {}),
    {
      linksDone: 2,
      refusal: "default/lan (net1): b was killed with its children because it ran longer than 15000 ms",
    },
  );
  expect(plugins).toBe("ba");
});

test("runDel stops and says to try later when the hand refuses because it is busy: no plugin has failed", async () => {
  const busy = { exitCode: undefined, failure: "refused", errno: 11, message: "too many" } as const;
  expect(await run(() => outcome(busy)).catch((thrown: unknown) => thrown)).toMatchObject({ code: "try-later" });
});
