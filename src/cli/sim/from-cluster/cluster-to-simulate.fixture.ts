import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { answer, ScriptedServer } from "../../../kube/client/scripted-server.fixture.ts";
import { fakeShell } from "../../fake-shell.fixture.ts";
import { runCli } from "../../main.ts";

/** What a cluster has; the rest is as usual. */
interface ClusterWish {
  readonly limits?: Readonly<Record<string, string>>;
  readonly image?: string;
  /** By node. */
  readonly pods?: Readonly<Record<string, number>>;
  /** What each pod of agent1 asks for. */
  readonly networks?: string;
  /** Of each node. */
  readonly cpu?: string;
  /** Of the daemon on agent1. */
  readonly metrics?: string;
  /** Answers by path, instead of the usual ones. */
  readonly more?: Readonly<Record<string, unknown>>;
}

/** An API server for `levee sim --from-cluster`, which remembers how it was asked. */
export class ClusterToSimulate {
  wish: ClusterWish = {};
  readonly methods: string[] = [];
  readonly #folder = mkdtempSync(join(tmpdir(), "levee-sim-cluster-"));
  readonly #server: ScriptedServer;

  private constructor(server: ScriptedServer) {
    this.#server = server;
  }

  static async start(): Promise<ClusterToSimulate> {
    const made: { cluster?: ClusterToSimulate } = {};
    const server = await ScriptedServer.listen(({ method, url }, response) => {
      made.cluster?.methods.push(method);
      const body = bodies(made.cluster?.wish ?? {})[url.pathname];
      if (typeof body === "string") response.end(body);
      else answer(response, body ?? { kind: "Status", status: "Failure", code: 404 }, body === undefined ? 404 : 200);
    });
    made.cluster = new ClusterToSimulate(server);
    return made.cluster;
  }

  async stop(): Promise<void> {
    await this.#server.close();
    rmSync(this.#folder, { recursive: true });
  }

  async levee(...argv: readonly string[]): Promise<{ status: number; out: string; err: string }> {
    const shell = fakeShell({ argv: this.argvOf(...argv), isRoot: false });
    return { status: await runCli(shell), out: shell.stdout.text, err: shell.stderr.text };
  }

  argvOf(...argv: readonly string[]): readonly string[] {
    return this.argvAt(this.#server.url, ...argv);
  }

  argvAt(url: string, ...argv: readonly string[]): readonly string[] {
    const kubeconfig = join(this.#folder, "kubeconfig");
    writeFileSync(kubeconfig, kubeconfigOf(url));
    return ["sim", "--from-cluster", "--kubeconfig", kubeconfig, ...argv];
  }
}

const levees = { "app.kubernetes.io/name": "levee", "app.kubernetes.io/component": "daemon" };

/** Text as it is, everything else as JSON. */
function bodies(wish: ClusterWish): Readonly<Record<string, unknown>> {
  const { limits = { memory: "50Mi" }, image = "levee", pods = { agent1: 60, agent2: 5 }, metrics } = wish;
  const networks = wish.networks ?? "lan";
  return {
    "/api/v1/nodes": listedObjects(Object.keys(pods).map((name) => clusterNode(name, wish.cpu ?? "2"))),
    "/api/v1/pods": listedObjects(
      Object.entries(pods).flatMap(([on, count]) => podsOn(on, count, on === "agent1" ? networks : "lan")),
    ),
    "/apis/apps/v1/daemonsets": listedObjects([clusterDaemonSet({ name: "cni", image, limits })]),
    ...(metrics === undefined ? {} : { "/api/v1/nodes/http:agent1:9810/proxy/metrics": metrics }),
    ...wish.more,
  };
}

export function listedObjects(items: readonly unknown[]): unknown {
  return { metadata: { resourceVersion: "1" }, items };
}

export function clusterNode(name: string, cpu: string, labels: Readonly<Record<string, string>> = {}): unknown {
  return { metadata: { name, labels }, status: { capacity: { cpu }, allocatable: { cpu: "100m" } } };
}

interface SetWish {
  readonly name: string;
  readonly image: string;
  readonly limits: Readonly<Record<string, string>>;
  readonly nodeSelector?: Readonly<Record<string, string>>;
}

export function clusterDaemonSet({ name, image, limits, nodeSelector }: SetWish): unknown {
  const containers = [
    { name: "aside", image: "aside" },
    { name: "daemon", image, resources: { limits } },
  ];
  return {
    metadata: { namespace: "kube-system", name, labels: image === "levee" ? levees : {} },
    spec: { selector: {}, template: { spec: { containers, ...(nodeSelector === undefined ? {} : { nodeSelector }) } } },
    status: {},
  };
}

export function podsOn(nodeName: string, count: number, networks: string): readonly unknown[] {
  const annotations = networks === "" ? {} : { "k8s.v1.cni.cncf.io/networks": networks };
  return Array.from({ length: count }, (_, number) => ({
    metadata: { namespace: "web", name: `${nodeName}-${number}`, annotations },
    spec: { nodeName, ...(number < 2 ? { priority: 2_000_001_000 } : {}) },
    status: { phase: "Running" },
  }));
}

export function networkToSimulate(name: string, ...types: readonly string[]): unknown {
  const config = JSON.stringify({ cniVersion: "1.0.0", name, plugins: types.map((type) => ({ type })) });
  return { metadata: { namespace: "web", name }, spec: { config } };
}

function kubeconfigOf(url: string): string {
  return JSON.stringify({
    "apiVersion": "v1",
    "kind": "Config",
    "current-context": "one",
    "contexts": [{ name: "one", context: { cluster: "one", user: "one" } }],
    "clusters": [{ name: "one", cluster: { server: url } }],
    "users": [{ name: "one", user: {} }],
  });
}
