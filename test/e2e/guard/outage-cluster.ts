import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { objectOf, textOf } from "../../../src/kube/client/json-fields.ts";
import { countOf, objectsOf } from "../../../src/guard/json-values.ts";
import { startGuardServer } from "./guard-server.ts";
import type { PolicyServer } from "../policy-server.ts";
import type { Program } from "../program.ts";
import { until } from "../until.ts";
import { makeBystanders } from "./bystanders.ts";
import { BareRepository } from "./bare-repository.ts";
import { startKubeControllers } from "./kube-controllers.ts";
import { Operator } from "./operator.ts";
import { StandInKubelet } from "./stand-in-kubelet.ts";
import { cniDaemon, cniManifest, cniManifestPath, cniNodeLabel, deploymentManifest } from "./workloads.ts";

export const desktops = "fc-desktop";
export const podCount = 219;
const nodes = ["rke2-agent1", "rke2-agent2", "rke2-agent3"];
/** By namespace; a name and how many pods. */
const deployments = [
  ["traefik", "traefik", 3],
  ["longhorn-system", "longhorn-driver", 6],
  ["argocd", "argocd-repo-server", 1],
] as const;
const applications = ["multus", "traefik", "longhorn", "desktops", "monitoring"];

/** Argo CD, or what stands in for it. */
export interface OutageArgo {
  /** Installs it and an Application for each name, which syncs the folder `apps/NAME` by itself, and starts it. */
  start(applications: readonly string[]): Promise<void>;
  stop(): Promise<void>;
}

/** Where Argo CD runs, and what it reads. */
export interface ArgoPlace {
  readonly server: PolicyServer;
  readonly repository: BareRepository;
  /** For its files and logs. */
  readonly folder: string;
}

/** The cluster's symptoms, in numbers. */
export interface Symptoms {
  /** Pods of the operator that wait. */
  readonly waiting: number;
  readonly daemonsReady: number;
  readonly daemonRestarts: number;
  /** Deployments that have all their pods. */
  readonly available: number;
  readonly unknownApplications: number;
}

/** The cluster of the seeds: three nodes, their CNI daemon at 50Mi, Traefik, Longhorn, Argo CD, and an operator. */
export class OutageCluster<Argo extends OutageArgo> {
  readonly server: PolicyServer;
  readonly kubelet: StandInKubelet;
  readonly repository: BareRepository;
  readonly argo: Argo;
  readonly operator: Operator;
  readonly folder: string;
  readonly #manager: Program;

  private constructor(parts: ClusterParts, makeArgo: (place: ArgoPlace) => Argo) {
    const { server, folder, manager } = parts;
    this.server = server;
    this.folder = folder;
    this.#manager = manager;
    const labelled = nodes.map((name) => ({ name, labels: cniNodeLabel }));
    this.kubelet = new StandInKubelet({
      server,
      nodes: labelled,
      cniDaemon: `${cniDaemon.namespace}/${cniDaemon.name}`,
    });
    this.repository = BareRepository.make(folder, {
      [cniManifestPath]: cniManifest("50Mi"),
      ...Object.fromEntries(applications.slice(1).map((name) => [`apps/${name}/settings.yaml`, settingsOf(name)])),
      "README.md": "What runs here.\n",
    });
    this.argo = makeArgo({ server, repository: this.repository, folder });
    this.operator = Operator.make(server, desktops);
  }

  /** Everything is well when it resolves. */
  static async start<Argo extends OutageArgo>(makeArgo: (place: ArgoPlace) => Argo): Promise<OutageCluster<Argo>> {
    const folder = await mkdtemp(join(tmpdir(), "levee-outage-"));
    const server = await startGuardServer({ audit: true });
    // The guards are processes here.
    server.must(["-n", "levee-system", "delete", "deployment", "levee-guard"]);
    const manager = await startKubeControllers(server, folder);
    for (const namespace of [desktops, "traefik", "longhorn-system", "argocd"])
      server.must(["create", "namespace", namespace]);
    const cluster = new OutageCluster({ server, folder, manager }, makeArgo);
    try {
      await cluster.#build();
      return cluster;
    } catch (thrown) {
      await cluster.stop();
      throw thrown;
    }
  }

  /** 219 pods at once; then a person restarts what looks broken, and the operator goes on. */
  async breakDown(): Promise<void> {
    await this.operator.burst(podCount, nodes);
    await this.untilSymptoms("the CNI daemons are killed", ({ daemonRestarts }) => daemonRestarts >= nodes.length);
    for (const [namespace, name] of deployments)
      this.server.must(["-n", namespace, "rollout", "restart", `deployment/${name}`]);
    await makeBystanders(this.server, desktops, nodes);
    this.operator.goOn(nodes);
    await this.untilSymptoms("the outage is there", isBroken, 120_000);
  }

  async symptoms(): Promise<Symptoms> {
    const pods = await this.#items("/api/v1/pods");
    const deployed = await this.#items("/apis/apps/v1/deployments");
    const applied = await this.#items("/apis/argoproj.io/v1alpha1/namespaces/argocd/applications");
    const daemons = pods.filter(isDaemon);
    return {
      waiting: pods.filter((pod) => isDesktop(pod) && phaseOf(pod) === "Pending").length,
      daemonsReady: daemons.filter((pod) => containerOf(pod)["ready"] === true).length,
      daemonRestarts: daemons.reduce((sum, pod) => sum + countOf(containerOf(pod)["restartCount"]), 0),
      available: deployed.filter(isAvailable).length,
      unknownApplications: applied.filter(
        (application) => textOf(objectOf(objectOf(application["status"])["sync"])["status"]) === "Unknown",
      ).length,
    };
  }

  /** The error of a wait in vain has the last symptoms. */
  async untilSymptoms(what: string, isSo: (symptoms: Symptoms) => boolean, timeoutMs = 60_000): Promise<Symptoms> {
    const look = async (): Promise<Symptoms> => {
      const symptoms = await this.symptoms();
      if (!isSo(symptoms)) throw new Error(JSON.stringify(symptoms));
      return symptoms;
    };
    return until(what, look, { timeoutMs, everyMs: 500 });
  }

  async stop(): Promise<void> {
    await Promise.all([this.operator.stop(), this.argo.stop(), this.kubelet.stop()]);
    await this.#manager.stop("SIGKILL");
    await this.server.stop();
    await rm(this.folder, { recursive: true, force: true });
  }

  async #build(): Promise<void> {
    const { server } = this;
    await this.kubelet.start();
    server.must(["create", "-f", "-"], cniManifest("50Mi"));
    // One after the other: many at once are what that daemon cannot bear.
    for (const [namespace, name, replicas] of deployments) {
      server.must(["create", "-f", "-"], JSON.stringify(deploymentManifest(namespace, name, replicas)));
      await until(`${name} runs`, async () => {
        const found = await this.#items(`/apis/apps/v1/namespaces/${namespace}/deployments`);
        return found.every(isAvailable) || undefined;
      });
    }
    await this.argo.start(applications);
    await this.untilSymptoms("the cluster is well", isWell);
  }

  async #items(path: string): Promise<readonly Readonly<Record<string, unknown>>[]> {
    const { code, text } = await this.server.ask({ method: "GET", path });
    if (code !== 200) throw new Error(`GET ${path}: ${code} ${text}`);
    return objectsOf(objectOf(JSON.parse(text))["items"]);
  }
}

interface ClusterParts {
  readonly server: PolicyServer;
  readonly folder: string;
  readonly manager: Program;
}

/** Something small for Argo CD to sync. */
function settingsOf(name: string): string {
  return `apiVersion: v1\nkind: ConfigMap\nmetadata: { name: ${name}-settings, namespace: default }\n`;
}

export function isWell({ daemonsReady, available, unknownApplications }: Symptoms): boolean {
  return daemonsReady === nodes.length && available === deployments.length && unknownApplications === 0;
}

/** As a whole: none of them gets better by itself. */
export function isBroken({ waiting, available, unknownApplications }: Symptoms): boolean {
  return waiting >= podCount && available === 0 && unknownApplications === applications.length;
}

function isDaemon(pod: Readonly<Record<string, unknown>>): boolean {
  return textOf(objectOf(objectOf(pod["metadata"])["labels"])["app"]) === "multus";
}

function isDesktop(pod: Readonly<Record<string, unknown>>): boolean {
  return textOf(objectOf(pod["metadata"])["name"]).startsWith("rd-browser-only-");
}

function phaseOf(pod: Readonly<Record<string, unknown>>): string {
  return textOf(objectOf(pod["status"])["phase"]);
}

function containerOf(pod: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return objectsOf(objectOf(pod["status"])["containerStatuses"])[0] ?? {};
}

function isAvailable(deployment: Readonly<Record<string, unknown>>): boolean {
  const wanted = countOf(objectOf(deployment["spec"])["replicas"]);
  return countOf(objectOf(deployment["status"])["availableReplicas"]) >= wanted;
}
