/**
 * Stands in for Argo CD's controller, which only `npm run e2e -- --neighbours argocd` runs. It writes this and nothing
 * else, as the user `stand-in-argo`:
 *   - PATCH applications/NAME: `status.sync` and `status.conditions`. Unknown with a ComparisonError while no pod of
 *     argocd-repo-server is available, else Synced or OutOfSync, by comparing the CNI daemon's memory limit with git
 *   - PATCH daemonsets of the CNI daemon: back to what git says, when it can compare, differs, and no window denies it
 */
import { join } from "node:path";
import { objectOf, textOf } from "../../../src/kube/client/json-fields.ts";
import { objectsOf, timeText } from "../../../src/guard/json-values.ts";
import { mergePatch, untilServed, type PolicyServer } from "../policy-server.ts";
import type { BareRepository } from "./bare-repository.ts";
import { cniDaemon, cniManifestPath } from "./workloads.ts";

const self = { user: "stand-in-argo", group: "system:masters" };
const lookMs = 2_000;
const argo = "/apis/argoproj.io/v1alpha1/namespaces/argocd";
const repoServer = "/apis/apps/v1/namespaces/argocd/deployments/argocd-repo-server";
const daemonSet = `/apis/apps/v1/namespaces/${cniDaemon.namespace}/daemonsets/${cniDaemon.name}`;
const strategicPatch = "application/strategic-merge-patch+json";

export class StandInArgo {
  readonly #server: PolicyServer;
  readonly #repository: BareRepository;
  #isStopped = false;
  #ended: Promise<void> = Promise.resolve();
  /** How often it took a live change back. */
  reverts = 0;

  constructor(server: PolicyServer, repository: BareRepository) {
    this.#server = server;
    this.#repository = repository;
  }

  async start(applications: readonly string[]): Promise<void> {
    const server = this.#server;
    server.must(["apply", "-f", join(import.meta.dir, "argo-crds.yaml")]);
    await untilServed(server, "applications.argoproj.io", "appprojects.argoproj.io");
    const objects = applications.map((name) => syncedApplication(name, `file://${this.#repository.folder}`));
    server.must(
      ["create", "-f", "-"],
      JSON.stringify({ apiVersion: "v1", kind: "List", items: [project, ...objects] }),
    );
    this.#ended = this.#follow();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#ended;
  }

  async #follow(): Promise<void> {
    while (!this.#isStopped) {
      // A server that is away is asked again.
      await this.#look().catch(() => undefined);
      await Bun.sleep(lookMs);
    }
  }

  async #look(): Promise<void> {
    const available = objectOf((await this.#get(repoServer))["status"])["availableReplicas"];
    const canCompare = typeof available === "number" && available > 0;
    const isSynced = canCompare && (await this.#liveLimit()) === this.#limitInGit();
    const compared = isSynced ? "Synced" : "OutOfSync";
    for (const application of objectsOf((await this.#get(`${argo}/applications`))["items"])) {
      const name = textOf(objectOf(application["metadata"])["name"]);
      const others = name === "multus" ? compared : "Synced";
      await this.#tell(application, canCompare ? others : "Unknown");
    }
    if (canCompare && !isSynced && !(await this.#isDenied())) await this.#revert();
  }

  async #tell(application: Readonly<Record<string, unknown>>, sync: string): Promise<void> {
    if (textOf(objectOf(objectOf(application["status"])["sync"])["status"]) === sync) return;
    const name = textOf(objectOf(application["metadata"])["name"]);
    const error = { type: "ComparisonError", message: "failed to load target state", lastTransitionTime: now() };
    const status = { sync: { status: sync }, conditions: sync === "Unknown" ? [error] : [] };
    const path = `${argo}/applications/${name}`;
    await this.#server.ask({ method: "PATCH", path, body: { status }, type: mergePatch, as: self });
  }

  async #revert(): Promise<void> {
    const resources = { limits: { memory: this.#limitInGit() } };
    const containers = [{ name: cniDaemon.container, resources }];
    const body = { spec: { template: { spec: { containers } } } };
    const path = daemonSet;
    const { code } = await this.#server.ask({ method: "PATCH", path, body, type: strategicPatch, as: self });
    if (code === 200) this.reverts += 1;
  }

  async #isDenied(): Promise<boolean> {
    const spec = objectOf((await this.#get(`${argo}/appprojects/default`))["spec"]);
    return objectsOf(spec["syncWindows"]).some(
      ({ kind, applications }) => kind === "deny" && Array.isArray(applications) && applications.includes("multus"),
    );
  }

  async #liveLimit(): Promise<string> {
    const template = objectOf(objectOf((await this.#get(daemonSet))["spec"])["template"]);
    const [container] = objectsOf(objectOf(template["spec"])["containers"]);
    return textOf(objectOf(objectOf(container?.["resources"])["limits"])["memory"]);
  }

  #limitInGit(): string {
    const [, limit = ""] = /limits:\s+memory: (\S+)/u.exec(this.#repository.file("main", cniManifestPath)) ?? [];
    return limit;
  }

  async #get(path: string): Promise<Readonly<Record<string, unknown>>> {
    const { code, text } = await this.#server.ask({ method: "GET", path, as: self });
    if (code !== 200) throw new Error(`GET ${path}: ${code} ${text}`);
    return objectOf(JSON.parse(text));
  }
}

const apiVersion = "argoproj.io/v1alpha1";
const project = { apiVersion, kind: "AppProject", metadata: { name: "default", namespace: "argocd" }, spec: {} };

function syncedApplication(name: string, repoURL: string): object {
  const { namespace, name: daemon } = cniDaemon;
  const resource = { group: "apps", version: "v1", kind: "DaemonSet", namespace, name: daemon, status: "Synced" };
  return {
    apiVersion,
    kind: "Application",
    metadata: { name, namespace: "argocd" },
    spec: {
      project: "default",
      source: { repoURL, path: `apps/${name}`, targetRevision: "main" },
      syncPolicy: { automated: { selfHeal: true, prune: true } },
    },
    status: { sync: { status: "Synced" }, resources: name === "multus" ? [resource] : [] },
  };
}

function now(): string {
  return timeText(Date.now());
}
