import { mkdir } from "node:fs/promises";
import type { NodeAnswer } from "../../src/wire/node-view.ts";
import { startNode } from "../conformance/node.ts";
import type { CniOutcome, Lab } from "../lab/lab.ts";

/** Fails in the way of a plugin whose switch is away. */
export const broken = `echo '{"cniVersion":"1.0.0","code":11,"msg":"the switch is away"}'; exit 1\n`;

/** A plugin that goes on once the file `name` is in the control folder. */
export function waitsFor(name: string): string {
  return `while [ ! -e "$control/${name}" ]; do sleep 0.05; done\n`;
}

export interface Call {
  readonly netns: string;
  readonly process: ReturnType<Lab["start"]>["process"];
  readonly outcome: Promise<CniOutcome>;
  /** The answer, once it is there. */
  readonly seen: { answer?: CniOutcome; tookMs?: number };
}

/** A node on which calls are made as kubelet makes them: with the pod's UID, and pods of kube-system being critical. */
export class AdmissionNode implements AsyncDisposable {
  readonly lab: Lab;
  readonly #netns = new Map<string, string>();

  private constructor(lab: Lab) {
    this.lab = lab;
  }

  static async start(settings: Readonly<Record<string, unknown>> = {}): Promise<AdmissionNode> {
    return new AdmissionNode(await startNode({ settings }));
  }

  /** The same with the programmable plugin under another name for its default network. */
  static async startWith(plugin: string, settings: Readonly<Record<string, unknown>>): Promise<AdmissionNode> {
    const prepare = async (lab: Lab): Promise<void> => {
      await lab.plugin(plugin);
      const primary = { cniVersion: "1.1.0", name: "primary", ...lab.conf(plugin) };
      await lab.configure({ delegates: [primary], ...settings });
    };
    return new AdmissionNode(await startNode({ prepare }));
  }

  /** The daemon keeps the folder `net.d` of the node as the runtime's folder of confs. */
  static async startWithConfs(settings: Readonly<Record<string, unknown>>): Promise<AdmissionNode> {
    const prepare = async (lab: Lab): Promise<void> => {
      await mkdir(lab.path("net.d"));
      const delegates = [{ cniVersion: "1.1.0", name: "primary", ...lab.conf("first") }];
      await lab.configure({ delegates, cniConfigDir: lab.path("net.d"), ...settings });
    };
    const node = new AdmissionNode(await startNode({ prepare }));
    // It watches the folder once it has noticed that no primary network is there.
    await node.lab.until("the folder is watched", async () => {
      const { notices } = await node.lab.ask<NodeAnswer>({ ask: "node" });
      return notices.length > 0 ? true : undefined;
    });
    return node;
  }

  /** Begins a call for a sandbox of a pod; without a sandbox of its own the pod's name is that, too. */
  async call(verb: "ADD" | "DEL" | "STATUS", pod: string, options: CallOptions = {}): Promise<Call> {
    const { namespace = "default", sandbox = pod } = options;
    if (verb === "ADD") await this.lab.pod(pod, options.annotations ?? {}, namespace);
    const netns = this.#netns.get(sandbox) ?? this.lab.netns(sandbox);
    this.#netns.set(sandbox, netns);
    const args = `${this.lab.podArgs(pod, namespace)};K8S_POD_UID=uid-${pod}`;
    const beganMs = performance.now();
    const { process, outcome } = this.lab.start(verb, { containerId: sandbox, netns, args });
    const seen: Call["seen"] = {};
    void outcome.then((answer) => {
      seen.answer = answer;
      seen.tookMs = performance.now() - beganMs;
    });
    return { netns, process, outcome, seen };
  }

  async add(pod: string, options: CallOptions = {}): Promise<CniOutcome> {
    return (await this.call("ADD", pod, options)).outcome;
  }

  async untilWaiting(count: number): Promise<void> {
    await this.lab.until(`${count} calls wait`, async () => {
      const { waiting } = await this.lab.ask<NodeAnswer>({ ask: "node" });
      return waiting === count || undefined;
    });
  }

  /** The containers for which a plugin was called, in order. */
  async ran(verb: string): Promise<readonly string[]> {
    const calls = await this.lab.calls();
    return calls.filter(({ command }) => command === verb).map(({ containerId }) => containerId);
  }

  async untilRan(verb: string, container: string): Promise<void> {
    await this.lab.until(`a plugin runs ${verb} for ${container}`, async () =>
      (await this.ran(verb)).includes(container) ? true : undefined,
    );
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.lab.remove();
  }
}

export interface CallOptions {
  readonly namespace?: string;
  readonly sandbox?: string;
  readonly annotations?: Readonly<Record<string, string>>;
}
