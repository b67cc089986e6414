import { execFileSync } from "node:child_process";
import { expect, test } from "bun:test";
import { encodeFrame } from "../../src/wire/frame.ts";
import type { NodeAnswer } from "../../src/wire/node-view.ts";
import { startNode } from "../conformance/node.ts";
import { callFields } from "../hostile/call-frame.ts";
import { leveeProgram, type Lab } from "../lab/lab.ts";
import { hasMemoryCgroups, MemoryCgroup } from "../lab/memory-cgroup.ts";
import { RawPeer } from "../skew/raw-peer.ts";

const mib = 1_048_576;
const few = 20;
const many = 2_000;
/** How much more of the daemon's cgroup this many waiting calls may cost than a few (ADR 0023). */
const budgetBytes = 12 * mib;

/** Enough for the heap to have found its size; with 300 the first reading was off by up to 2 MiB. */
const warmUpCalls = 1_200;
/** When the heap is swept is chance: one daemon in ten reads a MiB more. */
const daemons = 3;

/** The longest wait that fits into a call, so that no call leaves while the memory is read. */
const settings = { attachCeiling: 1, addQueueMs: 60_000, addBudgetMs: 110_000 };

test.skipIf(!hasMemoryCgroups)(
  `${many} waiting ADDs cost at most 12 MiB more of the daemon's cgroup than ${few}`,
  async () => {
    // From here, or the pages of a program that was just built are charged to the daemon and read over and over.
    execFileSync("cat", [leveeProgram], { stdio: "ignore" });
    const extras: number[] = [];
    for (let daemon = 0; daemon < daemons; daemon += 1) extras.push(await extraOfOne());
    const [, median = Number.POSITIVE_INFINITY] = extras.toSorted((left, right) => left - right);
    expect(median).toBeLessThan(budgetBytes);
  },
  120_000,
);

/** What the waiting calls cost one daemon, in bytes. */
async function extraOfOne(): Promise<number> {
  await using cgroup = new MemoryCgroup(50 * mib);
  await using lab = await startNode({ settings, daemonPrefix: cgroup.prefix });
  await lab.pod("p", {});
  await lab.script("first.ADD", 'while [ ! -e "$control/go" ]; do sleep 0.02; done\n');
  void lab.cni("ADD", { containerId: "holder", netns: lab.netns("n"), args: lab.podArgs("p") });
  await untilNode(lab, ({ running }) => running === 1);
  await warmUp(lab);
  const peers = await queue(lab, few, 0);
  const before = read(cgroup);
  peers.push(...(await queue(lab, many - few, few)));
  const after = read(cgroup);
  const extraBytes = after.ownBytes - before.ownBytes;
  console.log(
    `${few} waiting: ${shown(before)}; ${many} waiting: ${shown(after)}; ` +
      `${(extraBytes / mib).toFixed(1)} MiB more, ${Math.round(extraBytes / (many - few))} bytes for each`,
  );
  for (const peer of peers) peer.cut();
  await untilNode(lab, ({ waiting }) => waiting === 0);
  return extraBytes;
}

/** One-time costs: code that is compiled when it first runs, and rings that fill. One call at a time, so that none waits. */
async function warmUp(lab: Lab): Promise<void> {
  for (let round = 0; round < warmUpCalls; round += 1) {
    const peer = await RawPeer.connect(lab.socketDir);
    peer.send(
      encodeFrame("CALL", callFields({ verb: "DEL", container_id: `unknown${round}`, cni_args: lab.podArgs("p") })),
    );
    await peer.next();
    await peer.next();
    peer.cut();
  }
}

/** Callers that wait as a shim does: they have sent their header and keep the configuration. */
async function queue(lab: Lab, count: number, from: number): Promise<RawPeer[]> {
  const peers: RawPeer[] = [];
  for (let at = from; at < from + count; at += 1) {
    const peer = await RawPeer.connect(lab.socketDir);
    const id = at.toString(16).padStart(64, "0");
    const changes = {
      container_id: id,
      netns: `/var/run/netns/cni-${id.slice(28)}`,
      netns_ino: 4_026_000_000 + at,
      cni_args: `${lab.podArgs("p")};K8S_POD_INFRA_CONTAINER_ID=${id};K8S_POD_UID=${id.slice(28)}`,
      cni_path: "/opt/cni/bin",
      config_length: 4_096,
      budget_ms: 110_000,
    };
    peer.send(encodeFrame("CALL", callFields(changes)));
    peers.push(peer);
  }
  await untilNode(lab, ({ waiting }) => waiting === from + count);
  return peers;
}

async function untilNode(lab: Lab, holds: (node: NodeAnswer) => boolean): Promise<void> {
  await lab.until("the daemon has them in line", async () => {
    return holds(await lab.ask<NodeAnswer>({ ask: "node" })) ? true : undefined;
  });
}

/** File pages are the program's own text and go when others need the room; all else is what waiting costs. */
function read(cgroup: MemoryCgroup): { readonly ownBytes: number; readonly anonymousBytes: number } {
  const ownBytes = cgroup.usageBytes - cgroup.stat("total_active_file") - cgroup.stat("total_inactive_file");
  return { ownBytes, anonymousBytes: cgroup.stat("total_rss") };
}

function shown({ ownBytes, anonymousBytes }: ReturnType<typeof read>): string {
  return `${(ownBytes / mib).toFixed(1)} MiB (${(anonymousBytes / mib).toFixed(1)} anonymous)`;
}
