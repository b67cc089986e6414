import { expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { attachments, eachOf, expectSuccess, makeNode, podCall } from "./crash-node.ts";
import { expectNothingLeft } from "./nothing-left.ts";

const waiting = "Another daemon holds the state folder";

test("the state folder is removed or moved away under the daemon: no ADD is acknowledged without a journal on disk, and a killed daemon has lost nothing", async () => {
  await eachOf(["removed", "moved"], 2, async (how) => {
    await using lab = await makeNode();
    await lab.startDaemon();
    const [before, after] = [podCall(lab, "before"), podCall(lab, "after")];
    expectSuccess(await lab.cni("ADD", before));
    if (how === "removed") await rm(lab.stateDir, { recursive: true });
    else await rename(lab.stateDir, lab.path("elsewhere"));
    expectSuccess(await lab.cni("ADD", after));
    const journal = readFileSync(join(lab.stateDir, "journal.log"), "utf8");
    expect(["before", "after"].filter((id) => journal.includes(`"containerId":"${id}"`))).toEqual(["before", "after"]);
    await lab.killDaemon();
    await lab.startDaemon();
    expect((await attachments(lab)).map(({ containerId, phase }) => `${containerId} ${phase}`)).toEqual([
      "before attached",
      "after attached",
    ]);
    for (const call of [before, after]) expectSuccess(await lab.cni("DEL", call));
    await expectNothingLeft(lab, { netns: [before.netns, after.netns] });
  });
});

test("an idle daemon notices that its state folder is gone, and puts it back", async () => {
  await using lab = await makeNode();
  await lab.startDaemon();
  const call = podCall(lab, "c1");
  expectSuccess(await lab.cni("ADD", call));
  await rm(lab.stateDir, { recursive: true });
  await lab.until("the journal is back", () =>
    Promise.resolve(existsSync(join(lab.stateDir, "journal.log")) || undefined),
  );
  await lab.until("the log tells", () =>
    Promise.resolve(lab.daemonLog.includes("written anew from memory") || undefined),
  );
  await lab.killDaemon();
  await lab.startDaemon();
  expectSuccess(await lab.cni("DEL", call));
  await expectNothingLeft(lab, { netns: [call.netns] });
});

test("a second daemon waits although the state folder was removed under the first", async () => {
  await using lab = await makeNode();
  const first = await lab.startDaemon();
  const call = podCall(lab, "c1");
  expectSuccess(await lab.cni("ADD", call));
  first.kill("SIGSTOP");
  await rm(lab.stateDir, { recursive: true });
  const second = lab.launchDaemon();
  await lab.until("the second one waits", () => Promise.resolve(lab.daemonLog.includes(waiting) || undefined));
  first.kill("SIGCONT");
  await lab.untilReady();
  expect(second.exitCode).toBeNull();
  expect((await attachments(lab)).map(({ containerId }) => containerId)).toEqual(["c1"]);
  await lab.until("the journal is back", () =>
    Promise.resolve(existsSync(join(lab.stateDir, "journal.log")) || undefined),
  );
  first.kill("SIGKILL");
  await lab.untilReady();
  expect((await attachments(lab)).map(({ containerId }) => containerId)).toEqual(["c1"]);
  expectSuccess(await lab.cni("DEL", call));
  await expectNothingLeft(lab, { netns: [call.netns] });
});
