/** `npm run e2e -- --vm-smoke`: the machine boots, and Levee attaches a pod there to a network of each kind. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { leveeProgram, shimProgram } from "../e2e/node/levee-node.ts";
import { run } from "../e2e/run.ts";
import { say } from "../e2e/say.ts";
import { VirtualMachine } from "./machine/virtual-machine.ts";
import { nodeFiles } from "./node-files.ts";
import { makePayload } from "./payload.ts";
import { vmSurroundings } from "./surroundings.ts";

let machine: VirtualMachine;

beforeAll(async () => {
  const { folder, image } = vmSurroundings();
  run("ip", "link", "set", "lo", "up");
  const payload = makePayload(folder, {
    programs: { "levee": leveeProgram, "levee-shim": shimProgram },
    images: [],
    files: nodeFiles(),
  });
  machine = await VirtualMachine.make({ folder, image, payload });
  await machine.boot();
}, 360_000);

afterAll(async () => machine.stop(), 60_000);

describe("smoke", () => {
  test("the guest has systemd, cgroup v2 and the kernel's modules for networks", async () => {
    const found = await machine.shell.run(
      "cat /proc/1/comm; stat --file-system --format=%T /sys/fs/cgroup; uname -r; modprobe -a dummy 8021q macvlan ipvlan bonding vrf openvswitch && echo modules",
    );
    const [init, cgroups, kernel, modules] = found.trim().split("\n");
    say(`Linux ${kernel ?? ""}`);
    expect({ init, cgroups, modules }).toEqual({ init: "systemd", cgroups: "cgroup2fs", modules: "modules" });
  });

  test("Levee attaches a pod and leaves nothing behind", async () => {
    const links = "ip -brief link | cut -d' ' -f1 | sort";
    const before = await machine.shell.run(links);
    const told = await machine.shell.run("levee demo --once --cni-path /opt/cni/bin", 200_000);
    expect(told).toContain("10.");
    say("a pod was attached to two networks, and detached");
    expect(await machine.shell.run(links)).toBe(before);
    expect(await machine.shell.run("ip netns list | grep -v ^site || true")).toBe("");
  });
});
