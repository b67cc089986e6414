import { serveGit } from "../../../src/guard/git/git-https.fixture.ts";
import { objectOf } from "../../../src/kube/client/json-fields.ts";
import { countOf } from "../../../src/guard/json-values.ts";
import type { ArgoPlace } from "../guard/outage-cluster.ts";
import { until } from "../until.ts";
import { ArgoCd } from "./argo-cd.ts";

const lookMs = 500;
const repoServer = "/apis/apps/v1/namespaces/argocd/deployments/argocd-repo-server";

/** The real Argo CD in the outage. Its repository server runs as long as the pod runs in which it would be. */
export class RealArgo {
  readonly #place: ArgoPlace;
  #argo: ArgoCd | undefined;
  #git: Awaited<ReturnType<typeof serveGit>> | undefined;
  #isStopped = false;
  #ended: Promise<void> = Promise.resolve();

  constructor(place: ArgoPlace) {
    this.#place = place;
  }

  get argo(): ArgoCd {
    if (this.#argo === undefined) throw new Error("Argo CD is not installed yet");
    return this.#argo;
  }

  /** The address of the repository, for Argo CD and for the guard. */
  get url(): string {
    return this.#git?.url ?? "";
  }

  async start(applications: readonly string[]): Promise<void> {
    const { server, repository, folder } = this.#place;
    this.#git = await serveGit({ bare: repository.folder });
    this.#argo = await ArgoCd.install(server, folder);
    const objects = applications.map((name) => application(name, this.url));
    server.must(
      ["create", "-f", "-"],
      JSON.stringify({ apiVersion: "v1", kind: "List", items: [project, ...objects] }),
    );
    await this.argo.start("argocd-repo-server", "argocd-application-controller");
    this.#ended = this.#follow();
    await until("everything is synced", () => this.#areAllSynced(applications.length), { timeoutMs: 180_000 });
  }

  async #areAllSynced(count: number): Promise<true | undefined> {
    const states = await this.argo.applications();
    const others = states.filter(({ sync }) => sync !== "Synced");
    if (others.length > 0) throw new Error(JSON.stringify(others));
    return states.length === count || undefined;
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#ended;
    await this.#argo?.stop();
    await this.#git?.[Symbol.asyncDispose]();
  }

  async #follow(): Promise<void> {
    while (!this.#isStopped) {
      const { code, text } = await this.#place.server.ask({ method: "GET", path: repoServer });
      const status = code === 200 ? objectOf(objectOf(JSON.parse(text))["status"]) : {};
      const isThere = countOf(status["availableReplicas"]) > 0;
      const program = this.argo.repoServer;
      if (isThere && !program.isRunning) program.start();
      if (!isThere) await program.stop("SIGKILL");
      await Bun.sleep(lookMs);
    }
  }
}

const apiVersion = "argoproj.io/v1alpha1";
/** As Argo CD's own server makes it. */
const project = {
  apiVersion,
  kind: "AppProject",
  metadata: { name: "default", namespace: "argocd" },
  spec: {
    sourceRepos: ["*"],
    destinations: [{ server: "*", namespace: "*" }],
    clusterResourceWhitelist: [{ group: "*", kind: "*" }],
  },
};

function application(name: string, repoURL: string): object {
  return {
    apiVersion,
    kind: "Application",
    metadata: { name, namespace: "argocd" },
    spec: {
      project: "default",
      source: { repoURL, path: `apps/${name}`, targetRevision: "main" },
      destination: { server: "https://kubernetes.default.svc", namespace: "default" },
      syncPolicy: { automated: { selfHeal: true, prune: true } },
    },
  };
}
