import { cpSync, mkdirSync } from "node:fs";
import type { Cluster } from "../../test/e2e/cluster.ts";
import { ofMachine } from "../../test/e2e/leftovers.ts";
import { MultusNode } from "../../test/e2e/node/multus-node.ts";
import { limits, type Contender } from "./contender.ts";
import { dropPageCache } from "../ground/page-cache.ts";
import { accountOf, killAll, oomKills, type ContainerGroup } from "./container-group.ts";

/** The kubelet's back-off for a container: 10 s, doubled each time. */
const backOffMs = 10_000;

/**
 * The thick daemon as its manifest runs it, without the container. This class does the work of the kubelet and of cgroup
 * v2: an OOM kill ends the whole group (`memory.oom.group`), and the daemon restarts after the kubelet's back-off.
 */
export class Multus implements Contender {
  readonly #cluster: Cluster;
  readonly #node: MultusNode;
  readonly #group: ContainerGroup;
  #restarts = 0;
  #killsSeen = 0;
  #startsAtMs: number | undefined;

  constructor(cluster: Cluster, version: string, bin: string) {
    const { machine } = cluster;
    this.#cluster = cluster;
    this.#group = {
      memory: machine.memoryCgroup("multus", limits.memoryBytesMax),
      cpu: machine.cpuCgroup("multus", limits.cpuMilliMax),
    };
    const account = accountOf(this.#group);
    mkdirSync(account, { recursive: true });
    const programs = machine.path("multus");
    cpSync(bin, programs, { recursive: true });
    this.#node = new MultusNode(cluster, version, programs, [this.#group.memory, this.#group.cpu, account]);
  }

  async start(): Promise<void> {
    await this.#node.install();
    dropPageCache();
    await this.#node.start();
    await this.#cluster.untilNodeReady();
  }

  group(): ContainerGroup {
    return this.#group;
  }

  async restarts(): Promise<number> {
    return this.#restarts;
  }

  async story(): Promise<string> {
    return this.#node.program.logTail(50);
  }

  async left(): Promise<readonly string[]> {
    return ofMachine();
  }

  tend(): void {
    const kills = oomKills(this.#group);
    if (kills > this.#killsSeen) {
      this.#killsSeen = kills;
      killAll(this.#group);
    }
    if (this.#node.program.isRunning) return;
    this.#startsAtMs ??= performance.now() + backOffMs * 2 ** this.#restarts;
    if (performance.now() < this.#startsAtMs) return;
    this.#startsAtMs = undefined;
    this.#restarts += 1;
    this.#node.program.start();
  }
}
