import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { confFolder, listing } from "../networks.ts";
import type { ClusterNode } from "../node/cluster-node.ts";
import { Program } from "../program.ts";
import { installRecorded } from "../recorder.ts";

const runFolder = "/var/run/cilium";
export const ciliumConf = join(confFolder, "05-cilium.conflist");

/** Cilium's plugin, and of its agent the part that keeps the folder of confs. The rest of the agent needs eBPF. */
export class CiliumNode {
  /** It leaves other confs alone, or it sets them aside (`cni.exclusive`, which is true unless people change it). */
  readonly peaceful: Program;
  readonly exclusive: Program;
  readonly #folder: string;

  constructor(node: ClusterNode, folder: string) {
    this.#folder = folder;
    const agent = (name: string, isExclusive: boolean): Program =>
      new Program(node.machine.logFolder, name, {
        command: [
          join(folder, "cilium-conf-agent"),
          `--write-cni-conf-when-ready=${ciliumConf}`,
          `--cni-exclusive=${isExclusive}`,
        ],
      });
    this.peaceful = agent("cilium-peaceful", false);
    this.exclusive = agent("cilium-exclusive", true);
  }

  async start(): Promise<void> {
    installRecorded("cilium-cni", join(this.#folder, "cilium-cni"));
    mkdirSync(runFolder, { recursive: true });
    this.peaceful.start();
    await this.peaceful.untilUp("has written its conf", async () => existsSync(ciliumConf));
  }
}

/**
 * As an agent leaves it that died. Its plugin then writes deletes down for the next agent; before the first agent has
 * started it waits for three quarters of a minute.
 */
export function leaveDeadSocket(): void {
  writeFileSync(join(runFolder, "cilium.sock"), "");
}

/** Deletes that its plugin has written down for the agent. */
export function queuedDeletes(): readonly string[] {
  return listing(join(runFolder, "deleteQueue")).filter((name) => name.endsWith(".delete"));
}
