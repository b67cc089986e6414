import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startGuardServer } from "./guard-server.ts";
import { mergePatch, type Answer, type PolicyServer } from "../policy-server.ts";
import type { Program } from "../program.ts";
import { pause, until } from "../until.ts";
import { startKubeControllers } from "./kube-controllers.ts";
import { DecisionDesk } from "./decision-desk.ts";
import { GuardReplicas } from "./guard-process.ts";
import { desktopPod } from "./operator.ts";
import { StandInKubelet } from "./stand-in-kubelet.ts";
import { cniDaemon, cniManifest, cniNodeLabel } from "./workloads.ts";

/** Several small avalanches at once, each in a namespace of its own: pods and their node. */
const avalanches = {
  "odd-approvals": [20, "agent1"],
  "moved-targets": [24, "agent1"],
  "dry-run": [20, "agent1"],
  "lost-leader": [30, "agent1"],
  "server-restart": [30, "agent2"],
  "open-breaker": [20, "agent2"],
  // Its source is not stopped yet.
  "second-source": [20, "agent2"],
  // The only node with a CNI daemon that is killed, so the only recovery that has to hold Argo CD first.
  "gone-cause": [24, "agent3"],
} as const;

export type Avalanche = keyof typeof avalanches;
export const avalancheNames = Object.keys(avalanches) as readonly Avalanche[]; // what the literal above says
export const rolloutPods = 300;
/** A namespace with the label in which pods come all the same: a person makes them, and the policy does not hold persons. */
export const spared = { namespace: "spared-maker", pods: 20 };
/** Later than a minute after the label: what was made before may have been on its way. */
const sparedAfterMs = 63_000;
const healthy = "apart1";

/** A second cluster, in which everything goes wrong that may: so that none of it disturbs the outage of the seeds. */
export class SideCluster {
  readonly server: PolicyServer;
  readonly kubelet: StandInKubelet;
  readonly guards: GuardReplicas;
  readonly desk: DecisionDesk;
  readonly #folder: string;
  readonly #manager: Program;
  #labelledMs = 0;
  #sparedMade: Promise<void> = Promise.resolve();

  private constructor(server: PolicyServer, parts: { folder: string; manager: Program; guards: GuardReplicas }) {
    this.server = server;
    this.#folder = parts.folder;
    this.#manager = parts.manager;
    this.guards = parts.guards;
    this.desk = new DecisionDesk(server);
    this.kubelet = new StandInKubelet({
      server,
      cniDaemon: `${cniDaemon.namespace}/${cniDaemon.name}`,
      nodes: [
        // Nothing makes networks there, so no pod starts.
        { name: "agent1" },
        { name: "agent2" },
        { name: "agent3", labels: cniNodeLabel },
        { name: healthy, labels: { "levee.test/apart": "yes" }, isApart: true },
      ],
    });
  }

  /** The guards look from the beginning. */
  static async start(guardOptions: readonly string[]): Promise<SideCluster> {
    const folder = await mkdtemp(join(tmpdir(), "levee-side-"));
    const server = await startGuardServer({ audit: true });
    server.must(["-n", "levee-system", "delete", "deployment", "levee-guard"]);
    const manager = await startKubeControllers(server, folder);
    const guards = await GuardReplicas.make(server, folder, guardOptions);
    const cluster = new SideCluster(server, { folder, manager, guards });
    try {
      await cluster.#build();
      return cluster;
    } catch (thrown) {
      await cluster.stop();
      throw thrown;
    }
  }

  /** All of them within a second or two. */
  async breakDown(): Promise<void> {
    for (const [namespace, [count, node]] of Object.entries(avalanches))
      await this.#makePods(namespace, count, { node, generateName: "rd-" });
  }

  /** 300 pods of a Deployment, then 300 others in their place; and 300 without an owner. All of them start. */
  async rollOut(): Promise<void> {
    this.server.must(["create", "-f", "-"], JSON.stringify(shop()));
    await this.#untilAvailable(1);
    const body = { spec: { template: { metadata: { annotations: { version: "2" } } } } };
    await this.server.ask({ method: "PATCH", path: shopPath, body, type: mergePatch });
    await this.#untilAvailable(2);
    await this.#makePods("bulk", rolloutPods, { node: healthy, generateName: "bulk-" });
  }

  async podNames(namespace: string): Promise<readonly string[]> {
    const { text } = await this.server.ask({ method: "GET", path: `/api/v1/namespaces/${namespace}/pods` });
    return (JSON.parse(text) as { items: { metadata: { name: string } }[] }).items.map(({ metadata }) => metadata.name); // what the API server prints
  }

  /** The policy does not hold this maker. It begins after the others, so that their Decisions can be counted without its own. */
  beginSpared(): void {
    this.#sparedMade = this.#makeSpared();
    this.#sparedMade.catch(() => undefined);
  }

  /** Resolves when that maker has made its pods. */
  sparedMade(): Promise<void> {
    return this.#sparedMade;
  }

  /** One more of them; what the API server says to it. */
  makeOneMoreSpared(): Promise<Answer> {
    return this.server.ask({
      method: "POST",
      path: `/api/v1/namespaces/${spared.namespace}/pods`,
      body: desktopPod({ generateName: "rd-" }, "agent2"),
    });
  }

  async #makeSpared(): Promise<void> {
    await pause(Math.max(0, this.#labelledMs + sparedAfterMs - performance.now()));
    await this.#makePods(spared.namespace, spared.pods, { node: "agent2", generateName: "rd-" });
  }

  async stop(): Promise<void> {
    await this.#sparedMade.catch(() => undefined);
    await this.guards.stop();
    await this.kubelet.stop();
    await this.#manager.stop("SIGKILL");
    await this.server.stop();
    await rm(this.#folder, { recursive: true, force: true });
  }

  async #build(): Promise<void> {
    const { server } = this;
    server.must(["apply", "-f", join(import.meta.dir, "argo-crds.yaml")]);
    for (const namespace of [...avalancheNames, spared.namespace, "argocd", "shop", "bulk"])
      server.must(["create", "namespace", namespace]);
    // Their sources are stopped already: there is one Decision about each, to recover.
    const stopped = avalancheNames.filter((namespace) => namespace !== "second-source");
    server.must(["label", "namespace", ...stopped, spared.namespace, "levee.dev/ownerless-pods=deny"]);
    this.#labelledMs = performance.now();
    await this.kubelet.start();
    server.must(["create", "-f", "-"], cniManifest("50Mi"));
    server.must(["wait", "--for=condition=established", "crd/applications.argoproj.io", "crd/appprojects.argoproj.io"]);
    server.must(["create", "-f", "-"], JSON.stringify(argoObjects));
    this.guards.start();
  }

  async #makePods(
    namespace: string,
    count: number,
    { node, generateName }: { readonly node: string; readonly generateName: string },
  ): Promise<void> {
    const path = `/api/v1/namespaces/${namespace}/pods`;
    const body = desktopPod({ generateName }, node);
    const answers = await Promise.all(
      Array.from({ length: count }, () => this.server.ask({ method: "POST", path, body })),
    );
    const refused = answers.find(({ code }) => code !== 201);
    if (refused !== undefined) throw new Error(`A pod of ${namespace} cannot be made: ${refused.text}`);
  }

  async #untilAvailable(generation: number): Promise<void> {
    await until(
      `all ${rolloutPods} pods of shop run`,
      async () => {
        const { text } = await this.server.ask({ method: "GET", path: shopPath });
        const { status } = JSON.parse(text) as { status: Readonly<Record<string, number>> }; // what the API server prints
        const isAll = status["availableReplicas"] === rolloutPods && status["updatedReplicas"] === rolloutPods;
        const isNew = status["observedGeneration"] === generation && status["replicas"] === rolloutPods;
        if (isAll && isNew) return true;
        throw new Error(JSON.stringify(status));
      },
      { timeoutMs: 120_000 },
    );
  }
}

const shopPath = "/apis/apps/v1/namespaces/shop/deployments/shop";

function shop(): object {
  const labels = { app: "shop" };
  const spec = {
    nodeSelector: { "levee.test/apart": "yes" },
    containers: [{ name: "main", image: "example.com/shop" }],
  };
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: "shop", namespace: "shop" },
    spec: { replicas: rolloutPods, selector: { matchLabels: labels }, template: { metadata: { labels }, spec } },
  };
}

const argo = { apiVersion: "argoproj.io/v1alpha1" };
const argoObjects = {
  apiVersion: "v1",
  kind: "List",
  items: [
    { ...argo, kind: "AppProject", metadata: { name: "default", namespace: "argocd" }, spec: {} },
    {
      ...argo,
      kind: "Application",
      metadata: { name: "multus", namespace: "argocd" },
      spec: {
        project: "default",
        source: { repoURL: "https://git.example/infra", path: "apps/multus", targetRevision: "main" },
        syncPolicy: { automated: { selfHeal: true } },
      },
      status: {
        sync: { status: "Synced" },
        resources: [
          { group: "apps", version: "v1", kind: "DaemonSet", ...{ namespace: "kube-system", name: "kube-multus-ds" } },
        ],
      },
    },
  ],
};
