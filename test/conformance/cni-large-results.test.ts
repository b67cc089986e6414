// CNI sets no limit to results; ours is 256 KiB: below it nothing is cut, above it the ADD fails and is undone.
import { expect, test } from "bun:test";
import { leftovers } from "../lab/leftovers.ts";
import {
  attachments,
  containerId,
  errorOf,
  expectSilence,
  networksAnnotation,
  onlyCall,
  resultOf,
  startNode,
  stdinOf,
} from "./node.ts";

/** A result of about `kib` KiB in the plugin's own keys, with a mark at the end. */
function large(kib: number): string {
  const own = Array.from({ length: kib }, (_, index) => ({ index, text: "x".repeat(1_000) }));
  return JSON.stringify({ cniVersion: "1.1.0", ips: [{ address: "10.9.0.2/24" }], own, last: "the end" });
}

test("a result of 200 KiB comes back whole as prevResult at CHECK and DEL, after a restart too", async () => {
  await using lab = await startNode();
  await lab.answer("first.ADD", large(200));
  const call = { containerId: containerId("large"), netns: lab.netns("a") };
  expect(resultOf(await lab.cni("ADD", call)).ips?.[0]?.address).toBe("10.9.0.2/24");
  expectSilence(await lab.cni("CHECK", call));
  await lab.killDaemon();
  await lab.startDaemon();
  expectSilence(await lab.cni("DEL", call));
  for (const verb of ["CHECK", "DEL"]) {
    expect(stdinOf(await onlyCall(lab, verb, "first"))["prevResult"]).toEqual(JSON.parse(large(200)));
  }
  expect(await leftovers(lab)).toEqual([]);
});

test("three networks of 200 KiB each fit into one pod", async () => {
  await using lab = await startNode();
  for (const plugin of ["second", "third"]) await lab.network(plugin, { cniVersion: "1.1.0", ...lab.conf(plugin) });
  await lab.pod("web", { [networksAnnotation]: "second,third" });
  await lab.answer("ADD", large(200));
  const call = { containerId: containerId("three"), netns: lab.netns("a"), args: lab.podArgs("web") };
  resultOf(await lab.cni("ADD", call));
  await lab.killDaemon();
  await lab.startDaemon();
  expect(await attachments(lab)).toHaveLength(1);
  expectSilence(await lab.cni("DEL", call));
  expect(stdinOf(await onlyCall(lab, "DEL", "second"))["prevResult"]).toMatchObject({ last: "the end" });
  expect(await leftovers(lab)).toEqual([]);
});

test("a result above the limit fails the ADD, which is undone, and the daemon goes on", async () => {
  await using lab = await startNode();
  await lab.answer("first.ADD", large(2_000));
  const call = { containerId: containerId("huge"), netns: lab.netns("a") };
  expect(errorOf(await lab.cni("ADD", call)).msg).toStartWith("primary (eth0): ");
  expect(await leftovers(lab)).toEqual([]);
  await lab.answer("first.ADD", '{"cniVersion":"1.1.0"}');
  resultOf(await lab.cni("ADD", call));
});

test("a configuration of 200 KiB reaches its plugin whole, one above 256 KiB is refused", async () => {
  await using lab = await startNode({ settings: {}, prepare: (lab) => lab.configure({}) });
  const conf = (kib: number): string => {
    const delegate = { cniVersion: "1.1.0", name: "primary", ...lab.conf("first"), pad: "x".repeat(kib * 1_024) };
    return lab.shimConf({ delegates: [delegate] });
  };
  const call = { containerId: containerId("conf"), netns: lab.netns("a") };
  resultOf(await lab.cni("ADD", { ...call, conf: conf(200) }));
  expect(String(stdinOf(await onlyCall(lab, "ADD", "first"))["pad"])).toHaveLength(200 * 1_024);
  const refused = errorOf(await lab.cni("ADD", { ...call, ifname: "eth1", conf: conf(300) }));
  expect([5, 6, 7]).toContain(refused.code);
});
