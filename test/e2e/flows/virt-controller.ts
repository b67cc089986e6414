import { createHash } from "node:crypto";
import type { Api } from "../api.ts";
import { statusOf } from "../expectations.ts";
import { pathOf } from "../manifests.ts";
import { until } from "../until.ts";
import type { Pod } from "../pods.ts";
import { networksAnnotation } from "../the-levee.ts";

/** A second network of a virtual machine. */
export interface MachineNetwork {
  /** Its name in the machine. */
  readonly name: string;
  readonly definition: string;
  readonly mac?: string;
}

/** KubeVirt's name for the interface of a network in the launcher pod. */
export function hashedName(network: string): string {
  return `pod${createHash("sha256").update(network).digest("hex").slice(0, 11)}`;
}

/** The annotation that KubeVirt gives to a launcher pod; empty without networks. */
export function launcherAnnotation(networks: readonly MachineNetwork[], namespace: string): string {
  const elements = networks.map(({ name, definition, mac }) => ({
    name: definition,
    namespace,
    ...(mac === undefined ? {} : { mac }),
    interface: hashedName(name),
  }));
  return elements.length === 0 ? "" : JSON.stringify(elements);
}

/**
 * A stand-in for KubeVirt's virt-controller: it does to the launcher pod what its code does. It writes the whole annotation
 * by a JSON patch with one `add`, also when nothing is left of it, and believes network-status alone.
 */
export class VirtController {
  readonly #api: Api;
  readonly #path: string;
  readonly #namespace: string;

  constructor(api: Api, namespace: string, pod: string) {
    this.#api = api;
    this.#namespace = namespace;
    this.#path = pathOf("Pod", namespace, pod);
  }

  /** The machine has these second networks from now on. Resolves when all of them, and no others, are in the status. */
  async change(networks: readonly MachineNetwork[], timeoutMs: number): Promise<void> {
    const value = launcherAnnotation(networks, this.#namespace);
    const pointer = `/metadata/annotations/${networksAnnotation.replaceAll("/", "~1")}`;
    await this.#api.patchBy(this.#path, { op: "add", path: pointer, value });
    const wanted = networks.map(({ name, definition }) => `${hashedName(name)} ${this.#namespace}/${definition}`);
    await until(
      `network-status has ${wanted.join(", ")}`,
      async () => Bun.deepEquals(await this.#plugged(), wanted.toSorted()) || undefined,
      { timeoutMs, everyMs: 50 },
    );
  }

  /** Interfaces that KubeVirt would take for plugged: those of its own names. */
  async #plugged(): Promise<readonly string[]> {
    const status = statusOf(await this.#api.get<Pod>(this.#path));
    const own = status.filter(({ interface: ifname = "" }) => /^pod[0-9a-f]{11}$/u.test(ifname));
    return own.map(({ name, interface: ifname }) => `${ifname ?? ""} ${name}`).toSorted();
  }
}
