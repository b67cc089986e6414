import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { PodKey } from "../../src/cli/node/names.ts";
import type { FleetPod } from "../../src/cli/storm/fleet.ts";
import { networkNamespace, type NodeSource, type PodWish } from "./node-source.ts";

/** The API server's value for `system-node-critical`. */
const criticalPriority = 2_000_001_000;

/** Pods and networks in a folder, for machines without an API server. Multus cannot read it. */
export class DirectorySource implements NodeSource {
  readonly label: string;
  readonly settings: Readonly<Record<string, unknown>>;
  readonly env = {};
  readonly #folder: string;

  private constructor(folder: string, why: string) {
    this.#folder = folder;
    this.label = `a folder of files, since ${why}`;
    this.settings = { directory: folder };
  }

  static make(folder: string, why: string): DirectorySource {
    for (const name of ["pods", "networks"]) mkdirSync(join(folder, name), { recursive: true });
    return new DirectorySource(folder, why);
  }

  addNetwork(name: string, conf: unknown): Promise<void> {
    this.#write("networks", name, {
      apiVersion: "k8s.cni.cncf.io/v1",
      kind: "NetworkAttachmentDefinition",
      metadata: { name, namespace: networkNamespace },
      spec: { config: JSON.stringify(conf) },
    });
    return Promise.resolve();
  }

  addPods(wishes: readonly PodWish[]): Promise<readonly FleetPod[]> {
    for (const { namespace, name, annotations, isCritical = false } of wishes) {
      this.#write("pods", `${namespace}.${name}`, {
        apiVersion: "v1",
        kind: "Pod",
        metadata: { name, namespace, annotations, uid: uidOf({ namespace, name }) },
        ...(isCritical ? { spec: { priority: criticalPriority } } : {}),
      });
    }
    return Promise.resolve(wishes.map(({ namespace, name }) => ({ namespace, name, uid: uidOf({ namespace, name }) })));
  }

  removePod({ namespace, name }: PodKey): Promise<void> {
    rmSync(join(this.#folder, "pods", `${namespace}.${name}.json`), { force: true });
    return Promise.resolve();
  }

  stop(): Promise<void> {
    return Promise.resolve();
  }

  #write(kind: string, name: string, object: unknown): void {
    writeFileSync(join(this.#folder, kind, `${name}.json`), JSON.stringify(object));
  }
}

function uidOf({ namespace, name }: PodKey): string {
  return `uid-of-${namespace}.${name}`;
}
