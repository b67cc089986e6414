import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { argoCd } from "../../peers/argocd.ts";
import { kustomize } from "../../peers/kustomize.ts";
import { builtFolder } from "../../peers/peer.ts";
import { redis } from "../../peers/redis.ts";
import { writesOf, type AuditedWrite } from "../guard/audit.ts";
import { freePort, untilServed, type PolicyServer } from "../policy-server.ts";
import { Program } from "../program.ts";

const namespace = "argocd";
const applications = `/apis/argoproj.io/v1alpha1/namespaces/${namespace}/applications`;
/** Of its manifest: everything but the pods, and what leads to them. */
const installedKinds =
  /^kind: (?:CustomResourceDefinition|ServiceAccount|(?:Cluster)?Role(?:Binding)?|ConfigMap|Secret)$/mu;
/** How often it looks into git; 120 s where it is installed. */
const lookSeconds = 10;

/** What Argo CD says about an Application; parts that it has not said are empty. */
export interface ApplicationState {
  readonly name: string;
  readonly sync: string;
  readonly health: string;
  /** The commit that it has compared with. */
  readonly revision: string;
  /** Of its last sync. */
  readonly phase: string;
  readonly message: string;
}

interface Ports {
  readonly redis: number;
  readonly repoServer: number;
  readonly metrics: Readonly<Record<Part, number>>;
  readonly set: readonly [probe: number, webhook: number];
}

const parts = ["argocd-repo-server", "argocd-application-controller", "argocd-applicationset-controller"] as const;
type Part = (typeof parts)[number];

/** Argo CD as its manifest installs it, less the containers: definitions, accounts with their rights, settings, programs. */
export class ArgoCd {
  readonly #server: PolicyServer;
  readonly #ports: Ports;
  readonly #redis: Program;
  readonly #programs: Readonly<Record<Part, Program>>;

  private constructor(server: PolicyServer, ports: Ports, programs: Readonly<Record<Part | "redis", Program>>) {
    const { redis: cache, ...others } = programs;
    this.#server = server;
    this.#ports = ports;
    this.#redis = cache;
    this.#programs = others;
  }

  /** Its namespace is there. `folder` is for its files and logs. */
  static async install(server: PolicyServer, folder: string): Promise<ArgoCd> {
    const bin = builtFolder(await argoCd());
    const manifest = readFileSync(join(bin, "install.yaml"), "utf8").split(/^---$/mu);
    const wanted = manifest.filter((text) => installedKinds.test(text)).join("---\n");
    // Its definitions are too long for the annotation of a client-side apply.
    server.must(["-n", namespace, "apply", "--server-side", "-f", "-"], wanted);
    await untilServed(server, "applications.argoproj.io", "applicationsets.argoproj.io", "appprojects.argoproj.io");
    const ports = await choosePorts();
    const path = `${builtFolder(await kustomize())}:${process.env["PATH"] ?? ""}`;
    const program = async (part: Part): Promise<Program> => {
      const token = server.must(["-n", namespace, "create", "token", part, "--duration=2h"]).trim();
      const kubeconfig = await server.kubeconfig(token);
      const command = [join(bin, "argocd"), ...argumentsOf(part, ports, kubeconfig)];
      return new Program(folder, part, { command, env: { ...envOf(part, folder, kubeconfig), PATH: path } });
    };
    const cache = ["--bind", "127.0.0.1", "--port", String(ports.redis), "--save", "", "--appendonly", "no"];
    return new ArgoCd(server, ports, {
      "redis": new Program(folder, "redis", {
        command: [join(builtFolder(await redis()), "redis-server"), ...cache, "--dir", folder],
      }),
      "argocd-repo-server": await program("argocd-repo-server"),
      "argocd-application-controller": await program("argocd-application-controller"),
      "argocd-applicationset-controller": await program("argocd-applicationset-controller"),
    });
  }

  get repoServer(): Program {
    return this.#programs["argocd-repo-server"];
  }

  /** All parts, or those named. */
  async start(...asked: readonly Part[]): Promise<void> {
    this.#redis.start();
    for (const part of asked.length === 0 ? parts : asked) {
      this.#programs[part].start();
      await this.#programs[part].untilUp("answers", () => answers(this.#ports.metrics[part]));
    }
  }

  async stop(): Promise<void> {
    for (const program of [...Object.values(this.#programs), this.#redis]) await program.stop("SIGKILL");
  }

  async applications(): Promise<readonly ApplicationState[]> {
    const { items } = await this.#get<{ readonly items: readonly Application[] }>(applications);
    return items.map(stateOf);
  }

  async application(name: string): Promise<ApplicationState> {
    return stateOf(await this.#get<Application>(`${applications}/${name}`));
  }

  /** What its application-controller has written, by the API server's audit log. */
  async deeds(): Promise<readonly AuditedWrite[]> {
    const account = `system:serviceaccount:${namespace}:argocd-application-controller`;
    const writes = await writesOf(this.#server.auditFile, account);
    return writes.filter(({ isDryRun, code }) => !isDryRun && code < 300);
  }

  async #get<T>(path: string): Promise<T> {
    const { code, text } = await this.#server.ask({ method: "GET", path });
    if (code !== 200) throw new Error(`GET ${path}: ${code} ${text}`);
    return JSON.parse(text) as T; // as its definition says
  }
}

interface Application {
  readonly metadata: { readonly name: string };
  readonly status?: {
    readonly sync?: { readonly status?: string; readonly revision?: string };
    readonly health?: { readonly status?: string };
    readonly operationState?: { readonly phase?: string; readonly message?: string };
  };
}

function stateOf({ metadata, status = {} }: Application): ApplicationState {
  const { sync = {}, health = {}, operationState = {} } = status;
  return {
    name: metadata.name,
    sync: sync.status ?? "",
    health: health.status ?? "",
    revision: sync.revision ?? "",
    phase: operationState.phase ?? "",
    message: operationState.message ?? "",
  };
}

async function choosePorts(): Promise<Ports> {
  const metrics = {
    "argocd-repo-server": await freePort(),
    "argocd-application-controller": await freePort(),
    "argocd-applicationset-controller": await freePort(),
  };
  return { redis: await freePort(), repoServer: await freePort(), metrics, set: [await freePort(), await freePort()] };
}

function argumentsOf(part: Part, { redis: cache, repoServer, metrics, set }: Ports, kubeconfig: string): string[] {
  const local = (port: number): string => `127.0.0.1:${port}`;
  const login = ["--kubeconfig", kubeconfig, "--namespace", namespace];
  const metricsPort = ["--metrics-port", String(metrics[part])];
  switch (part) {
    case "argocd-repo-server":
      return [
        ...["--address=127.0.0.1", "--port", String(repoServer), "--disable-tls", "--redis", local(cache)],
        ...["--metrics-address=127.0.0.1", ...metricsPort],
      ];
    case "argocd-application-controller":
      return [
        ...[...login, ...metricsPort, "--redis", local(cache), "--repo-server", local(repoServer)],
        // Three minutes where it is installed: so long it shows nothing of a repository server that is away.
        ...["--repo-server-plaintext", "--repo-error-grace-period-seconds=1"],
      ];
    case "argocd-applicationset-controller":
      return [
        ...[...login, "--argocd-repo-server", local(repoServer), "--repo-server-plaintext"],
        ...["--metrics-addr", local(metrics[part]), "--probe-addr", local(set[0]), "--webhook-addr", local(set[1])],
      ];
  }
}

function envOf(part: Part, folder: string, kubeconfig: string): Readonly<Record<string, string>> {
  const own = (name: string): string => {
    mkdirSync(join(folder, part, name), { recursive: true });
    return join(folder, part, name);
  };
  return {
    ARGOCD_BINARY_NAME: part,
    // It takes the cluster that it runs in from this file.
    ARGOCD_FAKE_IN_CLUSTER: "true",
    KUBECONFIG: kubeconfig,
    ARGOCD_RECONCILIATION_TIMEOUT: `${lookSeconds}s`,
    ARGOCD_RECONCILIATION_JITTER: "0s",
    ARGOCD_GPG_ENABLED: "false",
    ARGOCD_TLS_DATA_PATH: own("tls"),
    ARGOCD_SSH_DATA_PATH: own("ssh"),
    ARGOCD_PLUGINSOCKFILEPATH: own("plugins"),
    ARGOCD_ASK_PASS_SOCK: join(own("run"), "ask"),
    HOME: own("home"),
    TMPDIR: own("tmp"),
  };
}

async function answers(port: number): Promise<boolean> {
  return (await fetch(`http://127.0.0.1:${port}/metrics`)).ok;
}
