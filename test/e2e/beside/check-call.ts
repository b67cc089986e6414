import { readFileSync } from "node:fs";
import { join } from "node:path";
import { listing } from "../networks.ts";
import { sandboxes } from "../node/containerd.ts";
import type { Scene } from "../the-levee.ts";
import { callPlugin } from "./cni-call.ts";

/** Where the runtime keeps what it gave to ADD and what it got. */
const resultFolder = "/var/lib/cni/results";

interface CachedResult {
  /** The list of plugins, in base64. */
  readonly config: string;
  readonly result: object;
  readonly cniArgs?: readonly (readonly [string, string])[];
}

interface PluginList {
  readonly name: string;
  readonly cniVersion: string;
  readonly plugins: readonly { readonly type: string }[];
}

/** The conf of the shipped settings is of a version without CHECK. */
export async function allowChecks({ cluster, levee }: Scene, cniVersion = "1.0.0"): Promise<void> {
  levee.configure({ cniVersion });
  await levee.restart();
  await cluster.untilNodeReady();
}

/** Asks for CHECK of a pod as a runtime would; containerd never does. The complaint, or undefined when all is well. */
export function checkPod(pod: string): string | undefined {
  const sandbox = sandboxes().find((box) => box.pod === pod);
  if (sandbox === undefined) throw new Error(`There is no sandbox of pod ${pod}`);
  const file = listing(resultFolder).find((name) => name.includes(sandbox.id) && !name.startsWith("cni-loopback"));
  if (file === undefined) throw new Error(`The runtime has no result of pod ${pod} in ${resultFolder}`);
  // As libcni writes it.
  const { config, result, cniArgs = [] } = JSON.parse(readFileSync(join(resultFolder, file), "utf8")) as CachedResult;
  const { name, cniVersion, plugins } = JSON.parse(Buffer.from(config, "base64").toString()) as PluginList;
  const [plugin] = plugins;
  if (plugin === undefined) throw new Error(`The runtime's conf of pod ${pod} has no plugin`);
  return callPlugin(
    { ...plugin, name, cniVersion, prevResult: result },
    {
      command: "CHECK",
      containerId: sandbox.id,
      netns: sandbox.netns,
      ifname: "eth0",
      args: cniArgs.map(([key, value]) => `${key}=${value}`).join(";"),
    },
  );
}
