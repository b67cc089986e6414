// ADR 0008: containers that the journal does not know, whose DEL is put off or has little time.
import { expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { errorOf, expectSilence, leaks } from "../conformance/node.ts";
import { ip, type CniCall, type Lab } from "../lab/lab.ts";
import { AdmissionNode, waitsFor, type Call } from "./admission-node.ts";

const settings = { detachCeiling: 1, delQueueMs: 1_000 };

function promised(lab: Lab): readonly string[] {
  const folder = lab.path("state/offline");
  return existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith(".del")) : [];
}

/** A container that another program attached. */
function attachedByOthers({ lab }: AdmissionNode, name: string): CniCall & { readonly netns: string } {
  const netns = lab.netns(name);
  ip(["-n", netns.slice(netns.lastIndexOf("/") + 1), "link", "add", "eth0", "type", "bridge"]);
  return { containerId: name, netns, args: lab.podArgs(name) };
}

/** A DEL that keeps the only slot until the file `deleted` is there. */
async function slotTaken(node: AdmissionNode, plugin: string): Promise<Call> {
  expect(await node.add("a")).toMatchObject({ exitCode: 0 });
  await node.lab.script(`${plugin}.DEL`, waitsFor("deleted"));
  const first = await node.call("DEL", "a");
  await node.untilRan("DEL", "a");
  return first;
}

async function slotFreed({ lab }: AdmissionNode, first: Call): Promise<void> {
  writeFileSync(lab.path("control", "deleted"), "");
  expectSilence(await first.outcome);
}

test("an unknown container gets no slot in time: its DEL fails if a plugin may need the namespace, and the next one runs in it", async () => {
  await using node = await AdmissionNode.start(settings);
  const first = await slotTaken(node, "first");
  const old = attachedByOthers(node, "old");
  expect(errorOf(await node.lab.cni("DEL", old))).toMatchObject({
    code: 11,
    msg: expect.stringContaining("its plugins may need the network namespace"),
  });
  expect(promised(node.lab)).toEqual([]);
  await slotFreed(node, first);
  expectSilence(await node.lab.cni("DEL", old));
  const own = (await node.lab.calls()).filter(({ containerId }) => containerId === "old");
  expect(own.map(({ env }) => env["CNI_NETNS"])).toEqual([old.netns]);
  expect(await leaks(node.lab)).toEqual([]);
});

test("an unknown container's DEL that was put off is carried out when no sign of it is left, also by the next daemon", async () => {
  for (const isRestarted of [false, true]) {
    await using node = await AdmissionNode.startWith("macvlan", settings);
    const { lab } = node;
    const first = await slotTaken(node, "macvlan");
    const old = attachedByOthers(node, "old");
    expectSilence(await lab.cni("DEL", old));
    expect(promised(lab)).toEqual(["old:eth0.del"]);
    lab.deleteNetns(old.netns);
    await slotFreed(node, first);
    if (isRestarted) {
      await lab.killDaemon("SIGKILL");
      await lab.startDaemon();
    }
    await lab.startHand();
    await lab.until("the kept DEL is done", () => Promise.resolve(promised(lab).length === 0 ? true : undefined));
    expect(await node.ran("DEL")).toEqual(["a", "old"]);
  }
});

test("the runtime's file of an unknown container ends with the answer to its DEL: the next daemon carries the DEL out all the same", async () => {
  await using node = await AdmissionNode.startWith("macvlan", {});
  const { lab } = node;
  await lab.killDaemon("SIGTERM");
  const primary = { cniVersion: "1.1.0", name: "primary", ...lab.conf("macvlan") };
  await lab.configure({ delegates: [primary], runtimeCniDir: lab.path("cni"), ...settings });
  await lab.startDaemon();
  const first = await slotTaken(node, "macvlan");
  const file = lab.path("cni/results/primary-old-eth0");
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, "{}");
  expectSilence(await lab.cni("DEL", { containerId: "old", netns: "", args: lab.podArgs("old") }));
  expect(promised(lab)).toEqual(["old:eth0.del"]);
  rmSync(file);
  await slotFreed(node, first);
  await lab.killDaemon("SIGKILL");
  await lab.startDaemon();
  await lab.startHand();
  await lab.until("the kept DEL is done", () => Promise.resolve(promised(lab).length === 0 ? true : undefined));
  expect(await node.ran("DEL")).toEqual(["a", "old"]);
});

test("the plugins of an unknown container have the time of its call: one that hangs goes to the leak ledger", async () => {
  await using node = await AdmissionNode.start({ delDelegatesMs: 30_000 });
  const { lab } = node;
  await lab.script("first.DEL", "exec sleep 1000\n");
  const old = attachedByOthers(node, "old");
  const conf = lab.shimConf({ delBudgetMs: 6_000 });
  expectSilence(await lab.cni("DEL", { ...old, conf }));
  expect(promised(lab)).toEqual([]);
  expect((await leaks(lab)).map(({ containerId, network }) => [containerId, network])).toEqual([["old", "primary"]]);
});
