import { expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync } from "node:fs";
import type { ChecksAnswer, TimelineAnswer } from "../../src/wire/node-view.ts";
import { Lab } from "../lab/lab.ts";
import { levee } from "../lab/levee.ts";
import { hasMemoryCgroups, MemoryCgroup } from "../lab/memory-cgroup.ts";
import { writeFullJournal } from "./full-journal.ts";

setDefaultTimeout(180_000);

const mib = 1_048_576;
/** As in the manifests. */
const limitBytes = 50 * mib;
/** From 85 % of the limit on, the daemon runs no more ADDs at once. */
const anonBytesMax = 0.8 * limitBytes;
const bootId = readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();

test.skipIf(!hasMemoryCgroups)(
  "A journal of 5,000 attached pods: the daemon starts within 50Mi, and levee ls, why and top answer",
  async () => {
    await using node = await startedOn({ pods: 5_000 });
    const { lab, cgroup, daemon } = node;
    const readyMib = cgroup.stat("rss") / mib;

    const listed = await levee(lab, "ls", "-o", "json");
    expect(listed.err).toBe("");
    const { attachments } = JSON.parse(listed.out) as {
      attachments: readonly { containerId: string; phase: string }[];
    };
    expect(new Set(attachments.map(({ containerId }) => containerId)).size).toBe(5_000);
    expect(new Set(attachments.map(({ phase }) => phase))).toEqual(new Set(["attached"]));
    for (const command of [["top", "--once"], ["leaks"], ["version"]]) {
      const said = await levee(lab, ...command);
      expect({ command, status: said.status, err: said.err }).toEqual({ command, status: 0, err: "" });
    }
    await lab.ask<TimelineAnswer>({ ask: "timeline", namespace: "team-0", name: "none" });
    expect((await lab.ask<ChecksAnswer>({ ask: "checks" })).checks.find(({ name }) => name === "journal")?.detail).toBe(
      "5000 attachments",
    );
    // A program that knows no pages gets a sentence.
    expect(await lab.ask({ ask: "attachments" }).catch(String)).toContain("use the levee program that came with");

    const anonBytes = cgroup.stat("rss");
    console.log(
      `anonymous memory: ${readyMib.toFixed(1)} MiB when ready, ${(anonBytes / mib).toFixed(1)} after the commands; most ever charged: ${(cgroup.maxUsageBytes / mib).toFixed(1)} MiB`,
    );
    expect(daemon.signalCode).toBeNull();
    expect(anonBytes).toBeLessThan(anonBytesMax);
  },
);

test.skipIf(!hasMemoryCgroups)("A ledger of 4,000 leaks: levee leaks lists them all, the oldest first", async () => {
  await using node = await startedOn({ pods: 100, leaks: 4_000 });
  const listed = await levee(node.lab, "leaks", "-o", "json");
  expect(listed.err).toBe("");
  const { leaks } = JSON.parse(listed.out) as { leaks: readonly { id: string; sinceWallMs: number }[] };
  expect(new Set(leaks.map(({ id }) => id)).size).toBe(4_000);
  expect(leaks).toEqual(leaks.toSorted((left, right) => left.sinceWallMs - right.sinceWallMs));
  const forgotten = await levee(node.lab, "leaks", "--forget", leaks[17]?.id ?? "", "--yes");
  expect(forgotten).toMatchObject({ status: 0, err: "" });
  expect((await node.lab.ask<{ readonly leaks: number }>({ ask: "node" })).leaks).toBe(3_999);
});

async function startedOn(content: { readonly pods: number; readonly leaks?: number }) {
  const lab = await Lab.make();
  const cgroup = new MemoryCgroup(limitBytes);
  writeFullJournal(lab.stateDir, { ...content, bootId });
  await lab.configure({ clusterNetwork: "primary" });
  const daemon = lab.launchDaemon({}, cgroup.prefix);
  const close = async (): Promise<void> => {
    await lab.remove();
    await cgroup[Symbol.asyncDispose]();
  };
  const ended = new Promise<never>((_, reject) => {
    daemon.once("exit", (code, signal) =>
      reject(new Error(`The daemon ended with ${signal ?? code}:\n${lab.daemonLog}`)),
    );
  });
  try {
    await Promise.race([lab.untilReady(), ended]);
  } catch (thrown) {
    await close();
    throw thrown;
  }
  ended.catch(() => undefined);
  return { lab, cgroup, daemon, [Symbol.asyncDispose]: close };
}
