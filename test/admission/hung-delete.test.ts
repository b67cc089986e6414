import { expect, test } from "bun:test";
import { realBridge } from "../conformance/bridge.ts";
import {
  containerId,
  errorOf,
  expectSilence,
  leaks,
  networksAnnotation,
  resultOf,
  startNode,
  story,
} from "../conformance/node.ts";
import type { CniCall, Lab } from "../lab/lab.ts";
import { addresses, ipamFolder } from "../lab/leftovers.ts";

const hang = "exec sleep 1000\n";

/** A pod with one network, attached; the calls of its plugins so far are forgotten. */
async function attached(lab: Lab, name: string, network: string): Promise<CniCall> {
  await lab.pod(name, { [networksAnnotation]: network });
  const call = { containerId: containerId(name), netns: lab.netns(name), args: lab.podArgs(name) };
  resultOf(await lab.cni("ADD", call));
  return call;
}

test("a hanging DEL of a second network leaves time for the primary's, every time, and goes last at the next one", async () => {
  await using bridge = realBridge("h");
  await using lab = await startNode({
    prepare: (lab) =>
      lab.configure({
        delDelegatesMs: 4_000,
        delegates: [
          {
            cniVersion: "1.0.0",
            name: "p",
            plugins: [bridge.conf("p", { dataDir: ipamFolder(lab) }), lab.conf("first")],
          },
        ],
      }),
  });
  await lab.network("lan", { cniVersion: "1.0.0", ...lab.conf("second") });
  const call = await attached(lab, "web", "lan");
  expect(await addresses(lab)).toHaveLength(1);
  await lab.script("second.DEL", hang);
  await lab.forgetCalls();
  expect(errorOf(await lab.cni("DEL", call))).toMatchObject({
    code: 105,
    msg: expect.stringContaining("default/lan (net1): second was killed"),
  });
  expect(await story(lab)).toEqual(["DEL second net1", "DEL first eth0"]);
  expect(await addresses(lab)).toEqual([]);
  await lab.forgetCalls();
  errorOf(await lab.cni("DEL", call));
  expect(await story(lab)).toEqual(["DEL first eth0", "DEL second net1"]);
  expectSilence(await lab.cni("DEL", call));
  expect((await leaks(lab)).map(({ network }) => network)).toEqual(["default/lan"]);
});

test("a plugin that hangs in a chain leaves time for the plugins before it", async () => {
  await using lab = await startNode({ settings: { delDelegatesMs: 4_000, delAttemptsMax: 1 } });
  await lab.network("lan", {
    cniVersion: "1.0.0",
    name: "lan",
    plugins: [lab.conf("second"), lab.conf("third"), lab.conf("fourth")],
  });
  const call = await attached(lab, "web", "lan");
  for (const plugin of ["third", "fourth"]) await lab.script(`${plugin}.DEL`, hang);
  await lab.forgetCalls();
  expectSilence(await lab.cni("DEL", call));
  expect(await story(lab)).toEqual(["DEL fourth net1", "DEL third net1", "DEL second net1", "DEL first eth0"]);
});

test("leaks that hang do not keep back the others", async () => {
  await using lab = await startNode({
    settings: { delDelegatesMs: 3_000, delAttemptsMax: 1, detachCeiling: 6 },
    withHand: true,
  });
  for (const [network, plugin] of [
    ["hung", "second"],
    ["failing", "third"],
  ] as const)
    await lab.network(network, { cniVersion: "1.0.0", ...lab.conf(plugin) });
  const names = Array.from({ length: 12 }, (_, index) => `pod${index}`);
  const calls = await Promise.all(
    names.map((name, index) => attached(lab, name, index % 2 === 0 ? "hung" : "failing")),
  );
  await lab.script("second.DEL", hang);
  await lab.script("third.DEL", "exit 1");
  await Promise.all(calls.map(async (call) => expectSilence(await lab.cni("DEL", call))));
  expect(await leaks(lab)).toHaveLength(12);
  await lab.unscript("third.DEL");
  await lab.forgetCalls();
  await lab.ask({ ask: "leaks", retry: true });
  await lab.until("only the hung leaks are left", async () => ((await leaks(lab)).length === 6 ? true : undefined));
  expect((await leaks(lab)).map(({ network }) => network)).toEqual(Array.from({ length: 6 }, () => "default/hung"));
  const plugins = (await lab.calls()).map(({ plugin }) => plugin);
  // Four lanes: a hung leak may begin in each of the others while the last of these is under way.
  expect(plugins.slice(0, 6 + 3).filter((plugin) => plugin === "third")).toHaveLength(6);
});
