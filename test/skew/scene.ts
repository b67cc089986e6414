import { mkdir, rm, symlink, copyFile, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { spawnSync } from "node:child_process";
import { ip, type Lab } from "../lab/lab.ts";

/**
 * The node on which version 1 was recorded. Recorded frames name these places, so a replay needs the same ones:
 * a fixed folder for plugins and what they write down, and a fixed network namespace.
 */
export const sceneFolder = "/tmp/levee-skew-v1";
const sceneNetns = "levee-skew-v1";
export const netnsPath = `/var/run/netns/${sceneNetns}`;

export const webContainer = "skew-web";
export const brokenContainer = "skew-broken";
export const resumeContainer = "skew-resume";
export const lostContainer = "skew-lost";
export const slowContainer = "skew-slow";

const plugins = ["first", "second", "third", "failing"];

/** The fixed places, held alone: two runs of the tests on one machine take turns. */
export class Scene implements AsyncDisposable {
  readonly #release: () => void;

  private constructor(release: () => void) {
    this.#release = release;
  }

  static async hold(): Promise<Scene> {
    const release = await holdName(`\0${sceneNetns}`);
    const scene = new Scene(release);
    await scene.#clear();
    for (const name of ["bin", "control/calls", "control/answers", "control/scripts"]) {
      await mkdir(join(sceneFolder, name), { recursive: true });
    }
    await copyFile(join(import.meta.dir, "../lab/programmable-plugin"), join(sceneFolder, "bin/programmable"));
    for (const plugin of plugins) await symlink("programmable", join(sceneFolder, "bin", plugin));
    for (const plugin of ["first", "second"])
      await writeFile(join(sceneFolder, `control/scripts/${plugin}.ADD`), someInterface);
    await writeFile(join(sceneFolder, "control/scripts/failing.ADD"), failure);
    ip(["netns", "add", sceneNetns]);
    return scene;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#clear();
    this.#release();
  }

  async #clear(): Promise<void> {
    spawnSync("ip", ["netns", "delete", sceneNetns]);
    await rm(sceneFolder, { recursive: true, force: true });
  }
}

export const scenePath = join(sceneFolder, "bin");
const controlDir = join(sceneFolder, "control");

/** So that the default route which the pod asks for has interfaces to work on. */
const someInterface = [
  'nsenter --net="$CNI_NETNS" ip link add "$CNI_IFNAME" type bridge',
  'nsenter --net="$CNI_NETNS" ip addr add 10.9.0.2/24 dev "$CNI_IFNAME"',
  'nsenter --net="$CNI_NETNS" ip link set "$CNI_IFNAME" up',
].join("\n");

const failure = `echo 'the switch is on fire' >&2; echo '{"cniVersion":"1.1.0","code":42,"msg":"no port left","details":"port 7"}'; exit 1`;

/** The networks and pods of the recorded node, in a lab's directory. Nothing here may change: the recording has it. */
export async function furnish(lab: Lab, settings: Readonly<Record<string, unknown>> = {}): Promise<void> {
  const primary = { cniVersion: "1.1.0", name: "primary", type: "first", controlDir };
  // The daemon's own looks depend on the machine and are no part of a recorded conversation.
  await lab.configure({ delegates: [primary], heartbeatMs: 2_000, undoRetryMs: 100, gcIntervalMs: 0, ...settings });
  const lan = `{"cniVersion":"1.0.0","name":"lan","plugins":[{"type":"second","controlDir":"${controlDir}","mtu":1500.0},{"type":"third","controlDir":"${controlDir}","serial":9007199254740993}]}`;
  await lab.network("lan", lan);
  await lab.network("bad", { cniVersion: "1.1.0", name: "bad", type: "failing", controlDir });
  const routed = JSON.stringify([{ "name": "lan", "default-route": ["10.9.0.1"] }]);
  await lab.pod("web", { "k8s.v1.cni.cncf.io/networks": routed });
  await lab.pod("broken", { "k8s.v1.cni.cncf.io/networks": "lan,bad" });
  await lab.pod("plain", {});
}

/** Waits for a name in the kernel's list of abstract sockets, which dies with its holder. */
async function holdName(path: string): Promise<() => void> {
  for (;;) {
    const server = createServer();
    const held = await new Promise<boolean>((resolve) => {
      server.once("error", () => resolve(false));
      server.listen({ path }, () => resolve(true));
    });
    if (held) return () => void server.close();
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
