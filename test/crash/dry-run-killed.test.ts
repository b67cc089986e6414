import { expect, test } from "bun:test";
import type { ChildProcess } from "node:child_process";
import type { Lab } from "../lab/lab.ts";
import { beginDryRun, untilDryRunEnded } from "../plug/dry-run-node.ts";
import { eachOf, isDead, makeNode, startFragile, story, untilRunning } from "./crash-node.ts";
import { expectNothingLeft } from "./nothing-left.ts";

/** Begin, step, leak-free removal: every entry that a dry run of a chain of two plugins writes. */
const writes = [1, 2, 3, 4];

test("the daemon is killed after each journal write of a dry run: the next daemon leaves nothing of it", async () => {
  await eachOf(writes, 2, async (write) => {
    await using lab = await makeTrialNode();
    const daemon = await startFragile(lab, write);
    await lab.startHand();
    await beginDryRun(lab, "trial").catch(() => undefined);
    await untilDeadOrDone(lab, daemon);
    await lab.killDaemon();
    await lab.startDaemon();
    await expectNothingLeft(lab);
    // A run that ended before its fault proves nothing.
    if (write < writes.length) expect(await story(lab, "DEL")).not.toEqual([]);
    await expectPasses(lab);
  });
});

const runs = ["ADD alpha", "ADD beta", "CHECK alpha", "DEL beta", "DEL alpha"] as const;

test("the hand is killed while each plugin of a dry run runs: the next hand leaves nothing of it", async () => {
  await eachOf(runs, 2, async (run) => {
    const [command = "", plugin = ""] = run.split(" ");
    await using lab = await makeTrialNode();
    await lab.startDaemon();
    await lab.startHand();
    await lab.script(`${plugin}.${command}`, "sleep 60");
    const { id } = await beginDryRun(lab, "trial");
    await untilRunning(lab, command, plugin);
    await lab.killHand();
    await lab.unscript(`${plugin}.${command}`);
    await lab.startHand();
    expect(await untilDryRunEnded(lab, id)).toMatchObject({ state: "failed", step: command });
    await expectNothingLeft(lab);
    await expectPasses(lab);
  });
});

test("daemon and hand are killed together while each plugin of a dry run runs: nothing is left of it", async () => {
  await eachOf(runs, 2, async (run) => {
    const [command = "", plugin = ""] = run.split(" ");
    await using lab = await makeTrialNode();
    await lab.startDaemon();
    await lab.startHand();
    await lab.script(`${plugin}.${command}`, "sleep 60");
    await beginDryRun(lab, "trial");
    await untilRunning(lab, command, plugin);
    await Promise.all([lab.killDaemon(), lab.killHand()]);
    await lab.unscript(`${plugin}.${command}`);
    await lab.startDaemon();
    await lab.startHand();
    await expectNothingLeft(lab);
    await expectPasses(lab);
  });
});

test("the daemon ends in order while a plugin runs: the dry run is taken back", async () => {
  await using lab = await makeTrialNode();
  await lab.startDaemon();
  await lab.startHand();
  await lab.script("beta.ADD", "sleep 1");
  await beginDryRun(lab, "trial");
  await untilRunning(lab, "ADD", "beta");
  await lab.killDaemon("SIGTERM");
  await lab.startDaemon();
  await expectNothingLeft(lab);
  await expectPasses(lab);
});

async function makeTrialNode(): Promise<Lab> {
  const lab = await makeNode();
  const plugins = [lab.conf("alpha"), lab.conf("beta")];
  await lab.network("trial", { cniVersion: "1.0.0", name: "trial", plugins });
  return lab;
}

async function expectPasses(lab: Lab): Promise<void> {
  await lab.forgetCalls();
  const passed = await lab.until("a dry run passes", async () => {
    const { id } = await beginDryRun(lab, "trial");
    const answer = await untilDryRunEnded(lab, id);
    // The node may still be busy with the undo of the last one, or wait for its hand.
    return answer.state === "refused" ? undefined : answer;
  });
  expect(passed).toMatchObject({ state: "passed", step: "compare", reason: "" });
  expect(await story(lab)).toEqual([
    ...["ADD alpha net1", "ADD beta net1", "CHECK alpha net1", "CHECK beta net1"],
    ...["DEL beta net1", "DEL alpha net1"],
  ]);
  await expectNothingLeft(lab);
}

async function untilDeadOrDone(lab: Lab, daemon: ChildProcess): Promise<void> {
  await lab.until("the daemon is killed, or the dry run is over", async () => {
    if (isDead(daemon)) return true;
    const last = (await story(lab, "DEL")).at(-1);
    return last === "DEL alpha net1" || undefined;
  });
}
