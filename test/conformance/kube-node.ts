import { mkdir } from "node:fs/promises";
import type { TimelineAnswer } from "../../src/wire/node-view.ts";
import { ApiDouble } from "../lab/api-double.ts";
import { ask } from "../lab/ask.ts";
import { freePort } from "../lab/free-port.ts";
import type { CniOutcome, Lab } from "../lab/lab.ts";
import { containerId, startNode } from "./node.ts";

/** A node whose pods and networks come from an API server that misbehaves as the test says. */
export class KubeNode {
  readonly lab: Lab;
  readonly api: ApiDouble;
  readonly #metricsPort: number;

  private constructor(lab: Lab, api: ApiDouble, metricsPort: number) {
    this.lab = lab;
    this.api = api;
    this.#metricsPort = metricsPort;
  }

  static async start(
    before: (api: ApiDouble) => void = () => undefined,
    settings: Readonly<Record<string, unknown>> = {},
  ): Promise<KubeNode> {
    const api = await ApiDouble.start();
    before(api);
    const metricsPort = await freePort();
    const lab = await startNode({
      prepare: async (made) => {
        await mkdir(made.path("netd"));
        await made.answer("first.ADD", result("eth0", "10.0.0.2/24"));
        await made.answer("second.ADD", result("net1", "10.1.1.2/24"));
        const delegates = [{ cniVersion: "1.1.0", name: "primary", ...made.conf("first") }];
        await api.serve(made, { delegates, metricsPort, ...settings });
      },
    });
    api.network("net-a", { cniVersion: "1.0.0", ...lab.conf("second") });
    return new KubeNode(lab, api, metricsPort);
  }

  /** Adds the pod; how long that took is part of what is tested. */
  async add(pod: string, more: { readonly conf?: string; readonly uid?: string } = {}): Promise<Added> {
    const uid = more.uid === undefined ? "" : `;K8S_POD_UID=${more.uid}`;
    const call = {
      containerId: containerId(pod),
      netns: this.lab.netns(pod),
      args: `${this.lab.podArgs(pod)}${uid}`,
      ...(more.conf === undefined ? {} : { conf: more.conf }),
    };
    const startedMs = performance.now();
    const outcome = await this.lab.cni("ADD", call);
    return { outcome, call, tookMs: performance.now() - startedMs };
  }

  /** The runtime's conf, with the pod's annotations as containerd sends them. */
  confWith(annotations: Readonly<Record<string, string>>): string {
    return this.lab.shimConf({ runtimeConfig: { "io.kubernetes.cri.pod-annotations": annotations } });
  }

  /** Waits for the watch to be open: from here on a pod is told of at once. */
  async synced(): Promise<void> {
    const kinds = ["pods", "network-attachment-definitions"] as const;
    const areWatched = (): boolean => kinds.every((kind) => this.api.isWatched(kind));
    await this.lab.until("pods and networks are watched", () => Promise.resolve(areWatched() || undefined));
  }

  /** Waits until the daemon's view has so many pods and the network. A watch can be open before its first event is told. */
  async untilInView(pods: number): Promise<void> {
    const counts = { pods, "network-attachment-definitions": 1 };
    const lines = Object.entries(counts).map(([resource, count]) => objectsLine(resource, count));
    await this.lab.until(`the view has ${pods} pods and the network`, async () => {
      // The port may open a moment after the socket.
      const answer = await fetch(`http://127.0.0.1:${this.#metricsPort}/metrics`).catch(() => undefined);
      const text = (await answer?.text()) ?? "";
      return lines.every((line) => text.includes(line)) || undefined;
    });
  }

  async timeline(pod: string): Promise<readonly string[]> {
    const { entries } = await ask<TimelineAnswer>(this.lab.socketDir, {
      ask: "timeline",
      namespace: "default",
      name: pod,
    });
    return entries.map(({ what, detail = "" }) => (detail === "" ? what : `${what}: ${detail}`));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.lab.remove();
    await this.api[Symbol.asyncDispose]();
  }
}

export interface Added {
  readonly outcome: CniOutcome;
  readonly call: Parameters<Lab["cni"]>[1];
  readonly tookMs: number;
}

function objectsLine(resource: string, count: number): string {
  return `levee_view_objects{resource="${resource}"} ${count}\n`;
}

function result(name: string, address: string): string {
  return JSON.stringify({
    cniVersion: "1.0.0",
    interfaces: [{ name, sandbox: "/x" }],
    ips: [{ address, interface: 0 }],
  });
}
