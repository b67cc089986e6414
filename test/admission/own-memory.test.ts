import { spawn } from "node:child_process";
import { expect, test } from "bun:test";
import type { ChecksAnswer } from "../../src/wire/node-view.ts";
import { errorOf, startNode } from "../conformance/node.ts";
import { hasMemoryCgroups, MemoryCgroup } from "../lab/memory-cgroup.ts";

const limitBytes = 256 * 1_048_576;
/** Above the mark of 95 %, with room for the daemon to go on. */
const wantedShare = 0.955;

test.skipIf(!hasMemoryCgroups)(
  "a daemon whose cgroup is nearly full serves DELs and STATUS, tells ADDs to come back, and recovers",
  async () => {
    await using cgroup = new MemoryCgroup(limitBytes);
    await using lab = await startNode({ daemonPrefix: cgroup.prefix });
    await lab.pod("p", {});
    const args = lab.podArgs("p");
    const old = { containerId: "old", netns: lab.netns("old"), args };
    expect(await lab.cni("ADD", old)).toMatchObject({ exitCode: 0 });
    using eater = eat(cgroup, Math.round(wantedShare * limitBytes) - heldBytes(cgroup));
    await untilMemory("warning", "only DELs are served");
    const young = { containerId: "young", netns: lab.netns("young"), args };
    expect(errorOf(await lab.cni("ADD", young))).toMatchObject({
      code: 11,
      msg: expect.stringContaining("the daemon's own memory is nearly used up"),
    });
    expect(await lab.cni("STATUS", { containerId: "" })).toMatchObject({ exitCode: 0 });
    expect(await lab.cni("DEL", old)).toMatchObject({ exitCode: 0 });
    expect((await lab.ask<ChecksAnswer>({ ask: "checks" })).isReady).toBe(true);
    expect(lab.daemonLog).toContain("nearly used up");
    eater[Symbol.dispose]();
    await untilMemory("ok", "MiB are in use");
    expect(await lab.cni("ADD", young)).toMatchObject({ exitCode: 0 });

    async function untilMemory(state: string, words: string): Promise<void> {
      await lab.until(`the memory check is ${state}`, async () => {
        const { checks } = await lab.ask<ChecksAnswer>({ ask: "checks" });
        const memory = checks.find(({ name }) => name === "memory");
        return memory?.state === state && memory.detail.includes(words) ? true : undefined;
      });
    }
  },
  60_000,
);

/** Pages of files are given back before anything else; of the program's text, if it is charged here, some count. */
function heldBytes(cgroup: MemoryCgroup): number {
  const textBytes = Math.min(cgroup.stat("total_mapped_file"), 12 * 1_048_576);
  return cgroup.usageBytes - cgroup.stat("total_inactive_file") - cgroup.stat("total_active_file") + textBytes;
}

/** A process of the same cgroup that keeps so many bytes until it is killed. */
function eat(cgroup: MemoryCgroup, bytes: number): Disposable {
  const [program, ...argv] = [
    ...cgroup.prefix,
    "/bin/sh",
    "-c",
    `{ head -c ${bytes} /dev/zero; exec sleep 100; } | exec tail -n 1`,
  ];
  const child = spawn(program, argv, { stdio: "ignore", detached: true });
  return {
    [Symbol.dispose]: () => {
      // The whole group; it may be gone already.
      if (child.pid !== undefined && child.exitCode === null && child.signalCode === null)
        process.kill(-child.pid, "SIGKILL");
    },
  };
}
