import { expect, test } from "bun:test";
import { errorOf, startNode } from "../conformance/node.ts";
import { freePort } from "../lab/free-port.ts";
import { hasMemoryCgroups, MemoryCgroup } from "../lab/memory-cgroup.ts";

const mib = 1_048_576;

test.skipIf(!hasMemoryCgroups)(
  "a plugin that the kernel kills for want of memory is named as such everywhere",
  async () => {
    const metricsPort = await freePort();
    await using cgroup = new MemoryCgroup(32 * mib);
    await using lab = await startNode({ settings: { metricsPort } });
    // It reads without end and keeps all of it, in the plugin's own process.
    await lab.script("first.ADD", "exec tail -n 1 /dev/zero\n");
    await lab.pod("p", {});
    const call = { containerId: "c1", netns: lab.netns("n"), args: lab.podArgs("p"), prefix: cgroup.prefix };
    const outcome = await lab.cni("ADD", call);
    expect(errorOf(outcome)).toMatchObject({
      code: 107,
      msg: expect.stringMatching(
        /^primary \(eth0\): first was killed by the kernel because memory ran out: its cgroup may use 33554432 bytes/u,
      ),
    });
    expect(JSON.stringify(await lab.ask({ ask: "timeline", namespace: "default", name: "p" }))).toContain(
      "delegate-oom",
    );
    const metrics = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
    expect(metrics).toMatch(/levee_calls_total\{[^}]*code="delegate-oom"[^}]*\} 1/u);
    // The plugin behaves again, and so does the node.
    await lab.unscript("first.ADD");
    expect(await lab.cni("ADD", { ...call, containerId: "c2", netns: lab.netns("m") })).toMatchObject({ exitCode: 0 });
  },
);
