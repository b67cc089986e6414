import { expect } from "bun:test";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { NodeAnswer } from "../../../src/wire/node-view.ts";
import { CriStatusWatch } from "./cri-status.ts";
import { untilNothingIsLeft } from "../leftovers.ts";
import { confFolder } from "../networks.ts";
import { say } from "../say.ts";
import { type InstalledScene } from "../installed/the-installed.ts";
import { names, podsOn } from "../the-levee.ts";
import { pause, until } from "../until.ts";

/** Two seconds each, one at a time: the last of them waits longer than the kubelet trusts a silent runtime. */
const slow = names("in-line", 24);
/** 15 s in line, one slow plugin, and a busy machine. The kubelet takes the runtime for dead after 30 s. */
const silentMsMax = 25_000;

/** A conf changes while pods stand in line: the runtime answers again within 25 s, and every pod gets its networks. */
export async function confChangesInStorm({ cluster, levee }: InstalledScene): Promise<void> {
  levee.configure({ attachCeiling: 1 });
  await levee.restart();
  await cluster.untilNodeReady();
  const other = join(confFolder, "agent-kubeconfig");
  using status = CriStatusWatch.begin();
  try {
    await cluster.pods.create(podsOn(slow, "slow"));
    await until("most pods are in line", async () => {
      const { waiting } = await levee.ask<NodeAnswer>({ ask: "node" });
      return waiting > slow.length / 2 ? true : undefined;
    });
    const beforeMs = status.longestMs;
    writeFileSync(other, "a token");
    const endsMs = performance.now() + 35_000;
    while (performance.now() < endsMs) {
      expect(await cluster.isNodeReady()).toBe(true);
      await pause(500);
    }
    say(
      `the runtime's status took ${Math.round(status.longestMs)} ms at most, ${Math.round(beforeMs)} before the change`,
    );
    expect(status.longestMs).toBeLessThan(silentMsMax);
    await cluster.pods.untilReady(slow, { timeoutMs: 180_000 });
    await cluster.pods.remove(slow);
    await untilNothingIsLeft(levee);
  } finally {
    rmSync(other, { force: true });
    levee.configure();
    await levee.restart();
  }
}
