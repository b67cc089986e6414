import type { Api, KubeObject } from "./api.ts";
import { nodeName } from "./machine.ts";
import { pathOf } from "./manifests.ts";
import { busyboxImage } from "./node/image.ts";
import { until } from "./until.ts";

export interface Pod extends KubeObject {
  readonly status?: {
    readonly phase?: string;
    readonly podIP?: string;
    readonly conditions?: readonly { readonly type: string; readonly status: string; readonly message?: string }[];
    readonly containerStatuses?: readonly ContainerStatus[];
    readonly initContainerStatuses?: readonly ContainerStatus[];
  };
}

interface ContainerStatus {
  readonly restartCount: number;
  readonly ready: boolean;
  readonly containerID?: string;
  readonly imageID?: string;
}

export interface PodWish {
  readonly name: string;
  readonly namespace?: string;
  readonly annotations?: Readonly<Record<string, string>>;
  /** The name of its node, if not the one on which the tests run. */
  readonly node?: string;
  readonly hostNetwork?: boolean;
  readonly serviceAccount?: string;
  readonly priorityClass?: string;
  /** Only sleeps: pods on the host's network would fight over the port. */
  readonly isPlain?: boolean;
}

/** A pod bound to the node, which serves its own name over HTTP. */
export function podObject(wish: PodWish): KubeObject {
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      name: wish.name,
      namespace: wish.namespace ?? "default",
      ...(wish.annotations === undefined ? {} : { annotations: wish.annotations }),
    },
    spec: {
      nodeName: wish.node ?? nodeName,
      hostNetwork: wish.hostNetwork ?? false,
      ...(wish.serviceAccount === undefined ? {} : { serviceAccountName: wish.serviceAccount }),
      ...(wish.priorityClass === undefined ? {} : { priorityClassName: wish.priorityClass }),
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      // Busybox as the first process of a container does not hear SIGTERM.
      terminationGracePeriodSeconds: 1,
      tolerations: [{ operator: "Exists" }],
      containers: [
        {
          name: "main",
          image: busyboxImage,
          imagePullPolicy: "Never",
          ...(wish.isPlain === true ? {} : { command: ["/bin/sh", "-c", serveName(wish.name)] }),
        },
      ],
    },
  };
}

function serveName(name: string): string {
  return `mkdir /www && echo ${name} > /www/name && exec httpd -f -p 8080 -h /www`;
}

/** Pods of the tests: made, waited for, deleted. */
export class Pods {
  readonly #api: Api;

  constructor(api: Api) {
    this.#api = api;
  }

  async create(wishes: readonly PodWish[]): Promise<void> {
    await Promise.all(
      wishes.map((wish) => this.#api.create(pathOf("Pod", wish.namespace ?? "default"), podObject(wish))),
    );
  }

  find(name: string, namespace = "default"): Promise<Pod | undefined> {
    return this.#api.find<Pod>(pathOf("Pod", namespace, name));
  }

  async get(name: string, namespace = "default"): Promise<Pod> {
    return this.#api.get<Pod>(pathOf("Pod", namespace, name));
  }

  list(namespace = "default"): Promise<readonly Pod[]> {
    return this.#api.list<Pod>(pathOf("Pod", namespace));
  }

  /** Waits until all of them run and are ready; the pods then. */
  untilReady(
    names: readonly string[],
    options: { namespace?: string; timeoutMs?: number } = {},
  ): Promise<readonly Pod[]> {
    const { namespace = "default", timeoutMs = 120_000 } = options;
    return until(
      `the pods ${brief(names)} are ready`,
      async () => {
        const all = await this.list(namespace);
        const ready = all.filter((pod) => names.includes(pod.metadata.name) && isReady(pod));
        if (ready.length === names.length) return ready;
        throw new Error(`${ready.length} of ${names.length} are ready`);
      },
      { timeoutMs, everyMs: 300 },
    );
  }

  async run(wishes: readonly PodWish[], timeoutMs = 120_000): Promise<readonly Pod[]> {
    await this.create(wishes);
    const namespace = wishes[0]?.namespace ?? "default";
    return this.untilReady(
      wishes.map(({ name }) => name),
      { namespace, timeoutMs },
    );
  }

  async delete(names: readonly string[], namespace = "default"): Promise<void> {
    await Promise.all(names.map((name) => this.#api.delete(pathOf("Pod", namespace, name))));
  }

  async untilGone(names: readonly string[], options: { namespace?: string; timeoutMs?: number } = {}): Promise<void> {
    const { namespace = "default", timeoutMs = 120_000 } = options;
    await until(
      `the pods ${brief(names)} are gone`,
      async () => {
        const left = (await this.list(namespace)).filter((pod) => names.includes(pod.metadata.name));
        if (left.length === 0) return true;
        throw new Error(`${left.length} are left, the first is ${left[0]?.metadata.name ?? ""}`);
      },
      { timeoutMs, everyMs: 300 },
    );
  }

  async remove(names: readonly string[], namespace = "default"): Promise<void> {
    await this.delete(names, namespace);
    await this.untilGone(names, { namespace });
  }
}

export function isReady(pod: Pod): boolean {
  return (
    pod.metadata.deletionTimestamp === undefined &&
    pod.status?.conditions?.some(({ type, status }) => type === "Ready" && status === "True") === true
  );
}

function brief(names: readonly string[]): string {
  return names.length <= 3 ? names.join(", ") : `${names[0]} to ${names.at(-1)} (${names.length})`;
}
