import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { builtFolder } from "../../peers/peer.ts";
import { kubevirt } from "../../peers/kubevirt.ts";
import type { Pod } from "../pods.ts";

/** What KubeVirt says about a machine, and about its pod once there is one. */
export interface KubevirtWords {
  /** For a new pod. */
  readonly annotations?: Readonly<Record<string, string>>;
  /** What it puts into the machine's status after a look at the pod. */
  readonly interfaces?: readonly {
    readonly name: string;
    readonly podInterfaceName?: string;
    readonly infoSource?: string;
  }[];
  /** Annotations that it would change on the pod. */
  readonly changes?: Readonly<Record<string, string>>;
  /** For the pod that the machine migrates to, beyond those of a new pod. */
  readonly target?: Readonly<Record<string, string>>;
}

export async function askKubevirt(machine: object, pod?: Pod): Promise<KubevirtWords> {
  const program = join(builtFolder(await kubevirt()), "launcher-words");
  const { status, stdout, stderr } = spawnSync(program, { input: JSON.stringify({ machine, pod }), encoding: "utf8" });
  if (status !== 0) throw new Error(`KubeVirt's own code refused: ${stderr.trim()}`);
  return JSON.parse(stdout) as KubevirtWords; // as launcher-words.go prints it
}
