// containerd never calls GC, so the daemon collects garbage by itself: only what is dead for certain, everything else is told.
import { spawn } from "node:child_process";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "bun:test";
import type { NodeAnswer } from "../../src/wire/node-view.ts";
import type { Lab } from "../lab/lab.ts";
import { attach, graceMs, inShort, reboot, round, secondRound, startGcNode } from "./garbage.ts";
import {
  attachments,
  containerId,
  expectSilence,
  leaks,
  networksAnnotation,
  onlyCall,
  resultOf,
  story,
} from "./node.ts";

const shimProgram = join(import.meta.dir, "../../dist/levee-shim");

/** A resident hand in a mount namespace of its own, to which no new mounts come. */
async function apartHand(lab: Lab, before = ""): Promise<AsyncDisposable> {
  const line = `${before}exec "$0" --resident --socket-dir "$1"`;
  const hand = spawn("unshare", ["-m", "--propagation", "private", "sh", "-c", line, shimProgram, lab.socketDir], {
    stdio: "ignore",
  });
  await lab.until("the hand is there", async () => {
    const { residentHands } = await lab.ask<NodeAnswer>({ ask: "node" });
    return residentHands.length > 0 ? true : undefined;
  });
  return {
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        hand.on("exit", () => resolve());
        hand.kill("SIGKILL");
      }),
  };
}

test("an attachment whose namespace is gone is detached at the second look, without a word from anybody", async () => {
  await using lab = await startGcNode({ gcIntervalMs: 200 });
  const gone = await attach(lab, "dead");
  await attach(lab, "alive");
  lab.deleteNetns(gone);
  await lab.until("the dead one is detached", async () => ((await attachments(lab)).length === 1 ? true : undefined));
  const del = await onlyCall(lab, "DEL", "first");
  expect(del.containerId).toBe(containerId("dead"));
  expect(del.env["CNI_NETNS"] ?? "").toBe("");
  expect(lab.daemonLog).toContain("An attachment whose network namespace is gone was undone");
});

test("after a reboot everything of the earlier boot is detached in one round, without a second look and without a limit", async () => {
  await using lab = await startGcNode();
  const names = Array.from({ length: 12 }, (_, index) => `old${String.fromCharCode(97 + index)}`);
  const paths: string[] = [];
  for (const name of names) paths.push(await attach(lab, name));
  paths.forEach((path) => lab.deleteNetns(path));
  await reboot(lab);
  const { findings } = await round(lab, "fix");
  expect(findings.map(({ action, why }) => `${action}: ${why}`)).toEqual(
    names.map(() => "detached: it was attached before the last boot"),
  );
  expect(await attachments(lab)).toEqual([]);
  expect(await leaks(lab)).toEqual([]);
});

test("one look is not enough, and a look without acting detaches nothing however often it is made", async () => {
  await using lab = await startGcNode();
  const gone = await attach(lab, "dead");
  await attach(lab, "alive");
  lab.deleteNetns(gone);
  expect(inShort(await round(lab, "fix"))).toEqual(["attachment dead wait"]);
  expect(inShort(await round(lab, "fix"))).toEqual(["attachment dead wait"]);
  await Bun.sleep(graceMs + 50);
  expect(inShort(await round(lab, "look"))).toEqual(["attachment dead detach"]);
  expect(await attachments(lab)).toHaveLength(2);
  expect(inShort(await round(lab, "fix"))).toEqual(["attachment dead detached"]);
  expect(inShort(await round(lab, "fix"))).toEqual([]);
  expect(await attachments(lab)).toHaveLength(1);
});

test("a runtime's own DEL between the looks is all that happens", async () => {
  await using lab = await startGcNode();
  const gone = await attach(lab, "late");
  await attach(lab, "alive");
  lab.deleteNetns(gone);
  await round(lab, "fix");
  expectSilence(await lab.cni("DEL", { containerId: containerId("late"), netns: gone }));
  await Bun.sleep(graceMs + 50);
  expect(inShort(await round(lab, "fix"))).toEqual([]);
  expect((await story(lab)).filter((line) => line.startsWith("DEL"))).toEqual(["DEL first eth0"]);
});

test("a hand that sees no living namespace detaches nothing, and says why", async () => {
  await using lab = await startGcNode();
  const gone = [await attach(lab, "one"), await attach(lab, "two")];
  for (const netns of gone) lab.deleteNetns(netns);
  const answer = await secondRound(lab, "fix");
  expect(inShort(answer)).toEqual(["attachment one report", "attachment two report"]);
  expect(answer.findings[0]?.why).toContain("the hand may be blind");
  expect(await attachments(lab)).toHaveLength(2);
});

test("a hand that looks into the wrong mount namespace takes no container for dead", async () => {
  await using lab = await startGcNode({}, { withHand: false });
  lab.deleteNetns(await attach(lab, "dead"));
  await attach(lab, "alive");
  // For this hand the mounts on the files in /run/netns are gone; the files themselves are there.
  await using _hand = await apartHand(lab, "umount -a -t nsfs; ");
  expect(inShort(await secondRound(lab, "fix"))).toEqual(["attachment dead report", "attachment alive report"]);
  expect(await attachments(lab)).toHaveLength(2);
});

test("a hand that sees old namespaces but not the mounts of new ones takes no new pod for dead", async () => {
  await using lab = await startGcNode({}, { withHand: false });
  await attach(lab, "old");
  await using _hand = await apartHand(lab);
  await attach(lab, "new");
  const answer = await secondRound(lab, "fix");
  expect(inShort(answer)).toEqual(["attachment new report"]);
  expect(answer.findings[0]?.why).toContain("the hand may not see its mount");
  expect(await attachments(lab)).toHaveLength(2);
});

test("without a resident hand nothing is looked at, and that is said", async () => {
  await using lab = await startGcNode({}, { withHand: false });
  expect((await round(lab, "fix")).failure).toBe("no resident hand is connected");
});

test("not more than five go in one minute, however many are dead", async () => {
  await using lab = await startGcNode();
  await attach(lab, "alive");
  for (const letter of "abcdefg") lab.deleteNetns(await attach(lab, `many${letter}x`));
  const answer = await secondRound(lab, "fix");
  expect(answer.findings.filter(({ action }) => action === "detached")).toHaveLength(5);
  expect(answer.findings.filter(({ action }) => action === "hold")).toHaveLength(2);
  expect(inShort(await round(lab, "fix")).every((line) => line.endsWith(" hold"))).toBe(true);
  expect(await attachments(lab)).toHaveLength(3);
});

test("what still lives is told and left alone: a pod that is gone, and a sandbox that a newer one has replaced", async () => {
  await using lab = await startGcNode();
  await lab.pod("web", {});
  await lab.pod("api", {});
  await attach(lab, "old", lab.podArgs("api"));
  await attach(lab, "new", lab.podArgs("api"));
  await attach(lab, "gone", lab.podArgs("web"));
  await rm(lab.path("directory/pods/default.web.json"));
  const answer = await lab.until("the view has noticed", async () => {
    const seen = await secondRound(lab, "fix");
    return seen.findings.length === 2 ? seen : undefined;
  });
  expect(answer.findings.map(({ pod, containerId: id, why, action }) => ({ pod, id, why, action }))).toEqual([
    {
      pod: "api",
      id: containerId("old"),
      why: expect.stringContaining(`newer sandbox of the same pod is attached: ${containerId("new")}`),
      action: "report",
    },
    { pod: "web", id: containerId("gone"), why: expect.stringContaining("its pod is gone"), action: "report" },
  ]);
  expect(await attachments(lab)).toHaveLength(3);
});

test("an attachment with a network that has disableGC is told, not detached", async () => {
  await using lab = await startGcNode();
  await lab.network("keep", { cniVersion: "1.1.0", name: "keep", disableGC: true, plugins: [lab.conf("second")] });
  await lab.pod("web", { [networksAnnotation]: "keep" });
  await attach(lab, "alive");
  lab.deleteNetns(await attach(lab, "kept", lab.podArgs("web")));
  const answer = await secondRound(lab, "fix");
  expect(inShort(answer)).toEqual(["attachment web report"]);
  expect(answer.findings[0]?.why).toContain("default/keep has disableGC");
  expect(await attachments(lab)).toHaveLength(2);
});

test("a plugin that fails leaves its rest in the leak ledger, and the round says so", async () => {
  await using lab = await startGcNode();
  await attach(lab, "alive");
  lab.deleteNetns(await attach(lab, "stuck"));
  await lab.script("first.DEL", `echo '{"cniVersion":"1.1.0","code":99,"msg":"store is locked"}'; exit 1`);
  expect(inShort(await secondRound(lab, "fix"))).toEqual(["attachment stuck failed"]);
  const [leak, ...others] = await leaks(lab);
  expect(leak).toMatchObject({ containerId: containerId("stuck"), reason: expect.stringContaining("store is locked") });
  expect(others).toEqual([]);
});

test("an ADD of the same container that is under way keeps its hands off", async () => {
  await using lab = await startGcNode();
  await attach(lab, "alive");
  const gone = await attach(lab, "again");
  lab.deleteNetns(gone);
  await round(lab, "look");
  await Bun.sleep(graceMs + 50);
  await lab.script("second.ADD", `while [ ! -e "$control/go" ]; do sleep 0.02; done`);
  await lab.network("lan", { cniVersion: "1.1.0", ...lab.conf("second") });
  await lab.pod("web", { [networksAnnotation]: "lan" });
  const adding = lab.cni("ADD", {
    containerId: containerId("again"),
    netns: lab.netns("again2"),
    ifname: "eth1",
    args: lab.podArgs("web"),
  });
  await lab.until("the ADD runs", async () =>
    (await story(lab)).some((line) => line.startsWith("ADD second")) ? true : undefined,
  );
  expect(inShort(await round(lab, "fix"))).toEqual(["attachment again wait"]);
  expect(await attachments(lab)).toHaveLength(3);
  await Bun.write(lab.path("control/go"), "");
  resultOf(await adding);
  expect(inShort(await round(lab, "fix"))).toEqual(["attachment again detached"]);
});
