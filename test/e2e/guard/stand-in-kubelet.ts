/**
 * Stands in for the kubelets of some nodes, and for the scheduler where none runs. No container runs. It writes this and nothing else, as
 * the user `stand-in-kubelet`:
 *   - POST nodes, PATCH nodes/NAME/status: each node once, Ready, with its memory
 *   - POST leases in kube-node-lease, PUT every ten seconds: the node lives
 *   - POST pods/NAME/binding: for a pod without a node, as the scheduler would
 *   - PATCH pods/NAME/status: waiting for its sandbox; running, with an address; killed for its memory and restarted
 *   - POST events of reason FailedCreatePodSandBox: once for each pod that has to wait
 *   - DELETE pods/NAME by UID and without grace: ends a deletion that somebody else asked for
 * Every time it writes is the time at which it writes it.
 */
import { systemClock } from "../../../src/base/clock.ts";
import { silentLogger } from "../../../src/base/log.ts";
import { timeText } from "../../../src/guard/json-values.ts";
import { fixedAccess } from "../../../src/kube/access/access.ts";
import { ApiClient } from "../../../src/kube/client/api-client.ts";
import { Reflector } from "../../../src/kube/watch/reflector.ts";
import { adminToken, type Ask, type PolicyServer } from "../policy-server.ts";
import { CniMemory } from "./cni-memory.ts";
import {
  kubeletPod,
  oomKilledStatus,
  runningStatus,
  sameKubeletPod,
  waitingStatus,
  type KubeletPod,
} from "./kubelet-pod.ts";

const self = { user: "stand-in-kubelet", group: "system:masters" };
const tickMs = 500;
const heartbeatMs = 10_000;
/** A sandbox takes its time, and one node makes a few at once. */
const startsPerTick = 10;
const patch = "application/strategic-merge-patch+json";

export interface StandInNode {
  readonly name: string;
  readonly labels?: Readonly<Record<string, string>>;
  /** Its network is none of the DaemonSet's: pods start there whatever happens elsewhere. */
  readonly isApart?: boolean;
}

export interface StandInOptions {
  readonly server: PolicyServer;
  readonly nodes: readonly StandInNode[];
  /** The DaemonSet without which no pod starts on a node, as `namespace/name`. */
  readonly cniDaemon: string;
  /** A real scheduler runs and binds the pods. */
  readonly isScheduled?: boolean;
  /** Pods on the host's network with this image never start. */
  readonly badImage?: string;
}

export class StandInKubelet {
  readonly #options: StandInOptions;
  readonly #client: ApiClient;
  readonly #pods: Reflector<KubeletPod>;
  readonly #memory = new CniMemory();
  readonly #heldNamespaces = new Set<string>();
  readonly #told = new Set<string>();
  /** Refusals of the API server; a good test has none. */
  readonly problems: string[] = [];
  #isStopped = false;
  #ended: Promise<unknown> = Promise.resolve();
  #addresses = 0;
  #turns = 0;

  constructor(options: StandInOptions) {
    this.#options = options;
    const tls = { rejectUnauthorized: false };
    const access = fixedAccess(options.server.url, { token: adminToken, tls });
    this.#client = new ApiClient({ access, clock: systemClock });
    this.#pods = new Reflector<KubeletPod>({
      api: this.#client,
      clock: systemClock,
      logger: silentLogger,
      resource: "pods",
      path: "/api/v1/pods",
      project: kubeletPod,
      isSame: sameKubeletPod,
    });
  }

  async start(): Promise<void> {
    for (const node of this.#options.nodes) await this.#makeNode(node);
    this.#pods.start();
    this.#ended = Promise.all([this.#every(tickMs, () => this.#tick()), this.#every(heartbeatMs, () => this.#beat())]);
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#ended;
    await this.#pods.close();
    this.#client.close();
  }

  /** Pods of the namespace that are being deleted stay until it is let go again: as on a node whose runtime hangs. */
  holdDeletions(namespace: string, isHeld: boolean): void {
    if (isHeld) this.#heldNamespaces.add(namespace);
    else this.#heldNamespaces.delete(namespace);
  }

  /** A pod starts although its node's network is down: its last try went through. */
  async startAnyway(namespace: string, name: string): Promise<void> {
    const pod = this.#pods.store.get(namespace, name);
    if (pod === undefined) throw new Error(`There is no pod ${namespace}/${name} to start`);
    await this.#setStatus(pod, this.#started(pod));
  }

  /** A server that is away is tried again at the next turn. */
  async #every(ms: number, act: () => Promise<void>): Promise<void> {
    while (!this.#isStopped) {
      await act().catch(() => undefined);
      await Bun.sleep(ms);
    }
  }

  async #tick(): Promise<void> {
    const pods = [...this.#pods.store.values()].filter(({ isDone }) => !isDone);
    const ours = new Set(this.#options.nodes.map(({ name }) => name));
    const isBinder = this.#options.isScheduled !== true;
    const unbound = pods.filter(({ node, deletingMs }) => isBinder && node === "" && deletingMs === 0);
    await Promise.all(unbound.map((pod) => this.#bind(pod)));
    const leaving = pods.filter(
      ({ node, deletingMs, namespace }) => deletingMs > 0 && ours.has(node) && !this.#heldNamespaces.has(namespace),
    );
    await Promise.all(leaving.map((pod) => this.#endDeletion(pod)));
    const living = pods.filter(({ deletingMs }) => deletingMs === 0);
    for (const { name } of this.#options.nodes) await this.#tendNode(name, living);
  }

  async #tendNode(node: string, pods: readonly KubeletPod[]): Promise<void> {
    const here = pods.filter((pod) => pod.node === node);
    const waiting = here.filter((pod) => !pod.hasStarted);
    const plain = waiting.filter(({ hostNetwork }) => !hostNetwork);
    const { badImage = "" } = this.#options;
    const ofHost = waiting.filter(({ hostNetwork, images }) => hostNetwork && !images.includes(badImage));
    await Promise.all(ofHost.map((pod) => this.#setStatus(pod, this.#started(pod))));
    const canStart = await this.#tendDaemon(node, here, plain.length);
    // One that has just come has its sandbox made at the next turn: many at once are seen as many.
    const starting = canStart ? plain.filter(({ hasStatus }) => hasStatus).slice(0, startsPerTick) : [];
    await Promise.all(starting.map((pod) => this.#setStatus(pod, this.#started(pod))));
    await Promise.all(plain.filter((pod) => !starting.includes(pod)).map((pod) => this.#keepWaiting(pod)));
  }

  /** Whether pods can start on the node. */
  async #tendDaemon(node: string, here: readonly KubeletPod[], waitingPods: number): Promise<boolean> {
    if (this.#options.nodes.some(({ name, isApart }) => name === node && isApart === true)) return true;
    const daemon = here.find(
      (pod) => `${pod.namespace}/${pod.owner.replace("DaemonSet/", "")}` === this.#options.cniDaemon,
    );
    if (daemon === undefined || !daemon.hasStarted) return false;
    const nowMs = Date.now();
    const fate = this.#memory.fate(daemon, waitingPods, nowMs);
    if (fate === "kill") await this.#setStatus(daemon, oomKilledStatus(daemon, nowMs));
    if (fate === "restart") await this.#setStatus(daemon, this.#started(daemon));
    return fate === "live";
  }

  async #keepWaiting(pod: KubeletPod): Promise<void> {
    if (!pod.hasStatus) await this.#setStatus(pod, waitingStatus(pod, Date.now()));
    if (this.#told.has(pod.uid)) return;
    this.#told.add(pod.uid);
    await this.#ask({
      method: "POST",
      path: `/api/v1/namespaces/${pod.namespace}/events`,
      body: sandboxEvent(pod),
    });
  }

  #started(pod: KubeletPod): object {
    return runningStatus(pod, pod.address || this.#address(), Date.now());
  }

  #address(): string {
    this.#addresses += 1;
    return `10.42.${Math.floor(this.#addresses / 250) % 250}.${(this.#addresses % 250) + 1}`;
  }

  async #bind(pod: KubeletPod): Promise<void> {
    const fitting = this.#options.nodes.filter(({ labels = {} }) =>
      Object.entries(pod.nodeSelector).every(([key, value]) => labels[key] === value),
    );
    this.#turns += 1;
    const node = pod.madeForNode === "" ? fitting[this.#turns % fitting.length]?.name : pod.madeForNode;
    if (node === undefined) return;
    const { namespace, name, uid } = pod;
    const target = { apiVersion: "v1", kind: "Node", name: node };
    const body = { apiVersion: "v1", kind: "Binding", metadata: { name, namespace, uid }, target };
    await this.#ask({ method: "POST", path: `${pathOf(pod)}/binding`, body });
  }

  async #endDeletion(pod: KubeletPod): Promise<void> {
    const options = { apiVersion: "v1", kind: "DeleteOptions", gracePeriodSeconds: 0, preconditions: { uid: pod.uid } };
    await this.#ask({ method: "DELETE", path: pathOf(pod), body: options });
  }

  async #setStatus(pod: KubeletPod, status: object): Promise<void> {
    // By UID: one of the same name that came meanwhile has another, and the server refuses.
    const body = { metadata: { uid: pod.uid }, status };
    await this.#ask({ method: "PATCH", path: `${pathOf(pod)}/status`, body, type: patch });
  }

  async #makeNode({ name, labels }: StandInNode): Promise<void> {
    const metadata = { name, labels: { "kubernetes.io/hostname": name, ...labels } };
    await this.#ask({ method: "POST", path: "/api/v1/nodes", body: { apiVersion: "v1", kind: "Node", metadata } });
    const size = { cpu: "16", memory: "64Gi", pods: "500" };
    const at = timeText(Date.now());
    const ready = { type: "Ready", status: "True", reason: "KubeletReady", lastHeartbeatTime: at };
    const status = {
      capacity: size,
      allocatable: size,
      conditions: [{ ...ready, lastTransitionTime: at, message: "stand-in" }],
    };
    await this.#ask({ method: "PATCH", path: `/api/v1/nodes/${name}/status`, body: { status }, type: patch });
    await this.#ask({ method: "POST", path: leases, body: lease(name) });
  }

  async #beat(): Promise<void> {
    for (const { name } of this.#options.nodes)
      await this.#ask({ method: "PATCH", path: `${leases}/${name}`, body: lease(name), type: patch });
  }

  /** Objects that are gone or have changed are looked at again; any other refusal is our fault. */
  async #ask(ask: Omit<Ask, "as">): Promise<void> {
    const { code, text } = await this.#options.server.ask({ ...ask, as: self });
    if (code >= 400 && code < 500 && ![404, 409].includes(code))
      this.problems.push(`${ask.method} ${ask.path}: ${text}`);
  }
}

const leases = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases";

function lease(name: string): object {
  return {
    apiVersion: "coordination.k8s.io/v1",
    kind: "Lease",
    metadata: { name, namespace: "kube-node-lease" },
    spec: { holderIdentity: name, leaseDurationSeconds: 40, renewTime: new Date().toISOString().replace("Z", "000Z") },
  };
}

function pathOf({ namespace, name }: KubeletPod): string {
  return `/api/v1/namespaces/${namespace}/pods/${name}`;
}

function sandboxEvent({ namespace, name, uid, node }: KubeletPod): object {
  const at = timeText(Date.now());
  return {
    apiVersion: "v1",
    kind: "Event",
    metadata: { generateName: `${name}.`, namespace },
    involvedObject: { apiVersion: "v1", kind: "Pod", name, namespace, uid },
    ...{ type: "Warning", reason: "FailedCreatePodSandBox", count: 1, firstTimestamp: at, lastTimestamp: at },
    message: "Failed to create pod sandbox: plugin type=multus failed (add): the daemon cannot be reached",
    source: { component: "kubelet", host: node },
    reportingComponent: "kubelet",
    reportingInstance: node,
  };
}
