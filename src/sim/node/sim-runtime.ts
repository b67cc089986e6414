import { objectOf } from "../../kube/client/json-fields.ts";
import type { SimApi } from "../api/sim-api.ts";
import type { SimProcess } from "../time/sim-process.ts";
import type { SimNode } from "./sim-node.ts";
import type { SimCall } from "./sim-call.ts";
import { argsOf, podKeyOf, podObject, type PodShape, type SimPod } from "./sim-pod.ts";
import { SimShim } from "./sim-shim.ts";

/** A call under way: the shim of Levee, or that of another. */
export interface RuntimeShim {
  /** The runtime sees the end of the process. */
  onKilled: () => void;
  kill(): void;
  /** Resolves to the exit code. */
  run(): Promise<number>;
}

/** How the kubelet and the runtime of a node work. */
interface RuntimeHabits {
  /** The conf that every call gets. */
  readonly config: string;
  /** How long the kubelet takes to see a pod. */
  readonly seeMsMax?: number;
  /** Levee's own without it. */
  readonly makeShim?: (call: SimCall) => RuntimeShim;
}

/** A sandbox of a pod, as the runtime keeps it. */
export interface SimSandbox {
  readonly id: string;
  readonly pod: SimPod;
  readonly netns: string;
  /** `told`: its ADD has succeeded and no DEL was asked for. */
  state: "adding" | "told" | "stopping";
}

interface PodWork {
  readonly pod: SimPod;
  isDeleting: boolean;
  /** Wakes the worker of a running pod. */
  wake: () => void;
}

/** The kubelet's pause before it tries a pod again. */
const retryMs = { min: 10_000, max: 15_000 };
/** When the runtime gives up on a call, and kills it. */
const callMs = { ADD: 120_000, DEL: 60_000 };
const usualSeeMsMax = 800;

/** The kubelet and the runtime of one node: one operation per pod at a time, and every sandbox is deleted until it is gone. */
export class SimRuntime {
  readonly sandboxes = new Map<string, SimSandbox>();
  /** The running shims. */
  readonly shims = new Set<RuntimeShim>();
  readonly #node: SimNode;
  readonly #api: SimApi;
  readonly #config: string;
  readonly #seeMsMax: number;
  readonly #makeShim: (call: SimCall) => RuntimeShim;
  readonly #work = new Map<string, PodWork>();
  #os: SimProcess;
  #ids = 0;

  constructor(node: SimNode, api: SimApi, habits: RuntimeHabits) {
    this.#node = node;
    this.#api = api;
    this.#config = habits.config;
    this.#seeMsMax = habits.seeMsMax ?? usualSeeMsMax;
    this.#makeShim = habits.makeShim ?? ((call) => new SimShim(node, call));
    this.#os = node.kernel.newProcess("kubelet");
  }

  /** Pods that are neither attached nor gone. */
  get unfinished(): readonly string[] {
    return [...this.#work.values()]
      .filter(({ pod, isDeleting }) => isDeleting || !this.isRunning(pod))
      .map(({ pod }) => podKeyOf(pod));
  }

  isRunning(pod: SimPod): boolean {
    return [...this.sandboxes.values()].some((sandbox) => sandbox.pod === pod && sandbox.state === "told");
  }

  bind(pod: SimPod): void {
    this.#show(pod, {});
    this.#tell(pod, "bound");
    const work = { pod, isDeleting: false, wake: () => undefined };
    this.#work.set(podKeyOf(pod), work);
    this.#os.after(this.#os.random() * this.#seeMsMax, () => void this.#serve(work));
  }

  remove(key: string): void {
    const work = this.#work.get(key);
    if (work === undefined || work.isDeleting) return;
    const { pod } = work;
    work.isDeleting = true;
    this.#tell(pod, "deleting");
    this.#show(pod, { isDeleting: true });
    this.#os.after(this.#os.random() * this.#seeMsMax, () => work.wake());
  }

  cutPower(): void {
    this.#os.kill();
    this.shims.clear();
    for (const sandbox of this.sandboxes.values()) sandbox.state = "stopping";
  }

  boot(): void {
    this.#os = this.#node.kernel.newProcess("kubelet");
    for (const work of this.#work.values())
      this.#os.after(this.#os.random() * this.#seeMsMax, () => void this.#serve(work));
  }

  async #serve(work: PodWork): Promise<void> {
    const { pod } = work;
    for (;;) {
      while (!(await this.#stopAll(pod))) await this.#pause();
      if (work.isDeleting) break;
      if (await this.#run(pod)) {
        while (!work.isDeleting) await new Promise<void>((resolve) => (work.wake = resolve));
        continue;
      }
      // The runtime takes a failed sandbox down at once; if that fails too, the kubelet does it later.
      await this.#stopAll(pod);
      if (!work.isDeleting) await this.#pause();
    }
    this.#work.delete(podKeyOf(pod));
    this.#api.remove("pods", podKeyOf(pod));
    this.#tell(pod, "gone");
  }

  async #pause(): Promise<void> {
    await this.#os.sleep(retryMs.min + this.#os.random() * (retryMs.max - retryMs.min));
  }

  /** Whether the pod has its network. */
  async #run(pod: SimPod): Promise<boolean> {
    const { kernel } = this.#node;
    this.#ids += 1;
    const id = `${this.#node.name}-${this.#ids}-${pod.name}`;
    const sandbox: SimSandbox = { id, pod, netns: `/var/run/netns/cni-${id}`, state: "adding" };
    kernel.makeNetns(sandbox.netns);
    this.sandboxes.set(id, sandbox);
    if ((await this.#call("ADD", sandbox)) !== 0) {
      this.#tell(pod, "failed");
      return false;
    }
    sandbox.state = "told";
    kernel.results.set(resultName(sandbox), this.#node.time.wallMs);
    const netns = kernel.netns.get(sandbox.netns);
    if (netns !== undefined) netns.users = 2;
    this.#tell(pod, "running");
    this.#show(pod, { phase: "Running" });
    return true;
  }

  /** Whether no sandbox of the pod is left. */
  async #stopAll(pod: SimPod): Promise<boolean> {
    const mine: SimSandbox[] = [];
    for (const sandbox of this.sandboxes.values()) if (sandbox.pod === pod) mine.push(sandbox);
    for (const sandbox of mine) if (!(await this.#stop(sandbox))) return false;
    return true;
  }

  async #stop(sandbox: SimSandbox): Promise<boolean> {
    const { kernel } = this.#node;
    sandbox.state = "stopping";
    const netns = kernel.netns.get(sandbox.netns);
    if (netns !== undefined) netns.users = 0;
    if ((await this.#call("DEL", sandbox)) !== 0) return false;
    kernel.results.delete(resultName(sandbox));
    kernel.removeNetns(sandbox.netns);
    this.sandboxes.delete(sandbox.id);
    return true;
  }

  /** Resolves to the exit code; undefined for a shim that was killed. */
  async #call(verb: SimCall["verb"], sandbox: SimSandbox): Promise<number | undefined> {
    const { name: node, say, time, kernel } = this.#node;
    const { id, pod } = sandbox;
    // After a reboot the namespace is gone, and the runtime names none.
    const netns = kernel.netns.has(sandbox.netns) ? sandbox.netns : "";
    say({ kind: "call", node, verb, containerId: id });
    const beganMs = time.nowMs;
    await this.#startShim();
    const cniArgs = argsOf(pod, id);
    const shim = this.#makeShim({ verb, containerId: id, netns, cniArgs, config: this.#config });
    this.shims.add(shim);
    const exitCode = await new Promise<number | undefined>((resolve) => {
      const stopTimer = this.#os.after(callMs[verb], () => shim.kill());
      shim.onKilled = () => {
        stopTimer();
        this.#os.after(1, () => resolve(undefined));
      };
      void shim.run().then((code) => {
        stopTimer();
        resolve(code);
      });
    });
    this.shims.delete(shim);
    say({ kind: "answer", node, verb, containerId: id, exitCode, tookMs: time.nowMs - beganMs });
    return exitCode;
  }

  /** A program starts: this costs CPU, and its caller waits for it. */
  #startShim(): Promise<void> | undefined {
    const { machine } = this.#node;
    if (machine === undefined) return undefined;
    return new Promise((resolve) => machine.startShim(resolve));
  }

  /** Writes the pod to the API server, and keeps the annotations that it has there. */
  #show(pod: SimPod, shape: PodShape): void {
    const known = objectOf(objectOf(this.#api.get("pods", podKeyOf(pod))?.["metadata"])["annotations"]);
    const object = podObject(pod, this.#node.name, shape);
    const metadata = { ...object.metadata, annotations: { ...known, ...object.metadata.annotations } };
    this.#api.put("pods", { ...object, metadata });
  }

  #tell(pod: SimPod, what: "bound" | "running" | "failed" | "deleting" | "gone"): void {
    this.#node.say({ kind: "pod", node: this.#node.name, pod: podKeyOf(pod), what });
  }
}

function resultName({ id }: SimSandbox): string {
  return `levee-${id}-eth0`;
}
