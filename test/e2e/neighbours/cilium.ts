import { afterAll, beforeAll, expect, test } from "bun:test";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { LeaksAnswer, NodeAnswer } from "../../../src/wire/node-view.ts";
import { cilium } from "../../peers/cilium.ts";
import { builtFolder } from "../../peers/peer.ts";
import { ciliumConf, CiliumNode, leaveDeadSocket, queuedDeletes } from "../beside/cilium-node.ts";
import { pluginText, withMembers } from "../beside/plugin-text.ts";
import { eventsOf } from "../expectations.ts";
import { untilNothingIsLeft } from "../leftovers.ts";
import { confFolder } from "../networks.ts";
import { generatedConf } from "../node/levee-node.ts";
import { recorded, type RecordedCall } from "../recorder.ts";
import { say } from "../say.ts";
import { podsOn, theStoppedScene, type Scene } from "../the-levee.ts";
import { until } from "../until.ts";

const longMs = 300_000;
/** Levee puts its conf back five times, each time after a longer pause. */
const fightMs = 90_000;

let scene: Scene;
let agent: CiliumNode;

beforeAll(async () => {
  scene = await theStoppedScene();
  rmSync(join(confFolder, "10-primary.conflist"));
  agent = new CiliumNode(scene.cluster, builtFolder(await cilium()));
  await agent.start();
  // The plugin tries to reach its agent for 30 s before it says why it failed.
  scene.levee.configure({ addDelegatesMs: 40_000 });
  await scene.levee.start();
}, longMs);

afterAll(async () => {
  await agent.peaceful.stop();
  await agent.exclusive.stop();
});

test(
  "its conf, as its agent writes it, reaches the plugin byte for byte, and a missing agent is named",
  async () => {
    const { cluster } = scene;
    await cluster.untilNodeReady();
    await cluster.pods.create(podsOn(["lonely"], "blue"));
    const add = await until("the plugin was run", () => callOf("ADD"), { timeoutMs: 60_000 });
    const conf = readFileSync(ciliumConf, "utf8");
    const { name, cniVersion } = JSON.parse(conf) as { name: string; cniVersion: string };
    const expected = withMembers(pluginText(conf, "cilium-cni"), { name, cniVersion });
    expect(add.stdin).toBe(expected);
    const reason = await until(
      "the pod's events name the agent",
      async () =>
        (await eventsOf(cluster.api, "lonely")).find(({ message }) => message.includes("Is the agent running?")),
      { timeoutMs: 120_000 },
    );
    say(`the pod's event: ${reason.message.replaceAll(/\s+/gu, " ").slice(0, 400)}`);
    await cluster.pods.remove(["lonely"]);
    expect((await until("its DEL was run", () => callOf("DEL"))).stdin).toBe(expected);
  },
  longMs,
);

test(
  "its DEL waits for an agent that has not started: Levee keeps it in its ledger, and nothing is left once Cilium takes it",
  async () => {
    const { levee } = scene;
    const { leaks } = await levee.ask<LeaksAnswer>({ ask: "leaks" });
    expect(leaks.map(({ pod, network }) => `${pod} ${network}`)).toContain("lonely cilium");
    for (const { reason } of leaks) expect(reason).toContain("cilium-cni was killed");
    leaveDeadSocket();
    await until(
      "the leaks are gone",
      async () => {
        const left = (await levee.ask<LeaksAnswer>({ ask: "leaks", retry: true })).leaks;
        expect(left).toEqual([]);
        return true;
      },
      { everyMs: 2_000 },
    );
    await untilNothingIsLeft(levee);
    expect(queuedDeletes().length).toBeGreaterThan(0);
  },
  longMs,
);

test(
  "its agent sets other confs aside: Levee puts its own back, gives way after some times, and says which setting to change",
  async () => {
    const { levee } = scene;
    await agent.peaceful.stop();
    agent.exclusive.start();
    const renamed = `${generatedConf}.cilium_bak`;
    await until("Cilium has renamed Levee's conf", () => existsSync(renamed) || undefined);
    await until("Levee says that its conf was taken away", () => noticeWith("and was put back"));
    const contested = await until("Levee gives way", () => noticeWith("again and again"), { timeoutMs: fightMs });
    expect(contested).toContain(generatedConf);
    expect(contested).toContain("cni.exclusive is false");
    expect(existsSync(generatedConf)).toBe(false);
    say(`Levee says: ${contested}`);
    await agent.exclusive.stop();
    agent.peaceful.start();
    await levee.restart();
    expect(existsSync(generatedConf)).toBe(true);
  },
  longMs,
);

function callOf(command: string): RecordedCall | undefined {
  return recorded().find((call) => call.plugin === "cilium-cni" && call.command === command);
}

async function noticeWith(words: string): Promise<string | undefined> {
  const { notices } = await scene.levee.ask<NodeAnswer>({ ask: "node" });
  return notices.find((notice) => notice.includes(words));
}
