import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { stormPods } from "../storm/pods.ts";
import { floorCaller } from "./floor.ts";

/** Of the kernel. */
const bridgePortsMax = 1_023;
let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "levee-floor-"));
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

const ground = {
  get bin(): string {
    return folder;
  },
  get leases(): string {
    return join(folder, "leases");
  },
  runFolder(name: string): string {
    mkdirSync(join(folder, name), { recursive: true });
    return join(folder, name);
  },
};

function sandboxOf(pod: { readonly namespace: string; readonly name: string }) {
  return { namespace: pod.namespace, name: pod.name, uid: "u", containerId: pod.name, netnsPath: "/ns/p" };
}

/** The networks that the plugins got for a pod, in order. */
async function networksOf(at: number): Promise<readonly string[]> {
  const log = join(folder, "log");
  rmSync(log, { force: true });
  const script = `#!/bin/sh\nsed 's/.*"name":"\\([^"]*\\)".*"bridge":"\\([^"]*\\)".*/\\1 \\2/' >>${log}\necho >>${log}\necho '{}'\n`;
  writeFileSync(join(folder, "bridge"), script, { mode: 0o755 });
  const caller = await floorCaller(ground);
  const pod = stormPods(at + 1)[at];
  if (pod === undefined) throw new Error("There is no such pod");
  expect(await caller.call("ADD", sandboxOf(pod))).toEqual({ isOk: true, message: "" });
  return readFileSync(log, "utf8").trim().split(/\s+/u);
}

test("floorCaller gives each pod the networks that Levee gives it", async () => {
  expect(await networksOf(0)).toEqual(["lan", "levb0", "dmz", "levb1"]);
  expect(await networksOf(999)).toEqual(["lan", "levb0", "dmz", "levb1"]);
  expect(stormPods(1_001)[1_000]?.annotations).toMatchObject({ "v1.multus-cni.io/default-network": "nets/lan-too" });
  expect(await networksOf(1_000)).toEqual(["lan-too", "levb2", "dmz-too", "levb3"]);
});

test("of 2,000 pods no bridge gets more than it takes", () => {
  const pods = stormPods(2_000);
  const onOthers = pods.filter(({ annotations }) => "v1.multus-cni.io/default-network" in annotations).length;
  expect(pods.length - onOthers).toBeLessThanOrEqual(bridgePortsMax);
  expect(onOthers).toBeLessThanOrEqual(bridgePortsMax);
});

test("floorCaller runs so many pods at once and no more, whatever their networks", async () => {
  writeFileSync(join(folder, "bridge"), "#!/bin/sh\nexec sleep 60\n", { mode: 0o755 });
  const caller = await floorCaller(ground, 2);
  const calls = stormPods(1_002)
    .slice(999)
    .map((pod) => caller.call("ADD", sandboxOf(pod)));
  await until(() => caller.running.size === 2);
  const first = caller.running;
  for (const pid of first) process.kill(pid, "SIGKILL");
  await until(() => first.isDisjointFrom(caller.running) && caller.running.size === 1);
  for (const pid of caller.running) process.kill(pid, "SIGKILL");
  expect((await Promise.all(calls)).map(({ message }) => message)).toEqual(["SIGKILL", "SIGKILL", "SIGKILL"]);
});

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await Bun.sleep(5);
}
