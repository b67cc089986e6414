import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { peerFolder } from "../peers/peer.ts";
import { auditPolicy } from "./guard/audit.ts";
import { until } from "./until.ts";

const kubernetesBin = join(peerFolder("k8s", "v1.34.5"), "bin");
const apiServerProgram = join(kubernetesBin, "kube-apiserver");
const stopMs = 5_000;
/** Before it is ready, the server reads all objects: 50,000 pods take a minute where other tests run. */
const readyMsMax = 240_000;
export const mergePatch = "application/merge-patch+json";
/** May do everything. */
export const adminToken = "policy-admin";
/** Persons with a login of their own: alice is of the group sre, carol of the group readers, bob of none. */
export const personTokens = { alice: "policy-alice", bob: "policy-bob", carol: "policy-carol" } as const;
/** A daemon of Levee as a pod: the API server queues requests of service accounts apart from those of persons. */
export const daemonToken = "policy-daemon";
export const daemonUser = "system:serviceaccount:levee-system:levee";
const tokenLines = [
  `${adminToken},admin,admin,system:masters`,
  `${daemonToken},${daemonUser},${daemonUser},"system:serviceaccounts,system:serviceaccounts:levee-system"`,
  `${personTokens.alice},alice,alice,sre`,
  `${personTokens.bob},bob,bob`,
  `${personTokens.carol},carol,carol,readers`,
];

/** Says what is missing for a real API server, or nothing. */
export function missingForApiServer(): string | undefined {
  if (!existsSync(apiServerProgram)) return `${apiServerProgram} is not built (npm run e2e builds it)`;
  const absent = ["etcd", "kubectl", "openssl"].filter((tool) => spawnSync("which", [tool]).status !== 0);
  return absent.length === 0 ? undefined : `not installed: ${absent.join(", ")}`;
}

export interface KubectlEnd {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Answer {
  readonly code: number;
  readonly text: string;
  /** The server's warning; admission policies give them. */
  readonly warning?: string;
}

/** One request, by the administrator unless it says otherwise. */
export interface Ask {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** With its query. */
  readonly path: string;
  readonly body?: unknown;
  readonly type?: string;
  readonly token?: string;
  /** The user to be, which the administrator may. Of groups one: fetch sends a header once. */
  readonly as?: { readonly user: string; readonly group?: string; readonly credential?: string };
}

/** etcd and kube-apiserver in a temporary folder, RBAC on, nothing else: enough to try what a manifest permits. */
export class PolicyServer {
  readonly #folder: string;
  readonly #children: ChildProcess[] = [];
  #apiServer: ChildProcess | undefined;
  #apiServerArgs: readonly string[] = [];
  readonly #auditPolicy: object | undefined;
  readonly #features: readonly string[];
  #url = "";
  #etcdUrl = "";
  #log = "";

  private constructor(folder: string, policy: object | undefined, features: readonly string[]) {
    this.#folder = folder;
    this.#auditPolicy = policy;
    this.#features = features;
  }

  /**
   * With `audit` it writes down every request that changes something (`guard/audit.ts` reads that), or what a policy of
   * the caller's own says. `features` are gates that this version of Kubernetes does not open by itself.
   */
  static async start(
    options: { readonly audit?: boolean | object; readonly features?: readonly string[] } = {},
  ): Promise<PolicyServer> {
    const { audit = false, features = [] } = options;
    const policy = typeof audit === "object" ? audit : audit ? auditPolicy : undefined;
    const folder = await mkdtemp(join(tmpdir(), "levee-policy-"));
    const server = new PolicyServer(folder, policy, features);
    try {
      await server.#boot();
      return server;
    } catch (thrown) {
      await server.stop();
      throw thrown;
    }
  }

  /** Where etcd takes requests of its own, for a test that needs tens of thousands of objects within seconds. */
  get etcdUrl(): string {
    return this.#etcdUrl;
  }

  get apiServerPid(): number {
    return this.#apiServer?.pid ?? 0;
  }

  get url(): string {
    return this.#url;
  }

  /** The server makes its own certificate on first start, with the authority that signed it behind it. */
  get caFile(): string {
    return join(this.#folder, "certificates/apiserver.crt");
  }

  /** Signs the tokens of service accounts. */
  get accountKeyFile(): string {
    return join(this.#folder, "sa.key");
  }

  get auditFile(): string {
    return join(this.#folder, "audit.log");
  }

  /** Runs kubectl as the administrator, or with the token given. */
  kubectl(args: readonly string[], options: { readonly token?: string; readonly input?: string } = {}): KubectlEnd {
    const fixed = [`--server=${this.#url}`, "--insecure-skip-tls-verify", `--token=${options.token ?? adminToken}`];
    const { status, stdout, stderr } = spawnSync("kubectl", [...fixed, ...args], {
      encoding: "utf8",
      input: options.input ?? "",
      env: { PATH: process.env["PATH"] ?? "", HOME: this.#folder, KUBECONFIG: "/dev/null" },
    });
    return { status, stdout, stderr };
  }

  /** A kubeconfig of the administrator, or of the token's owner. */
  async kubeconfig(token: string = adminToken): Promise<string> {
    const path = join(this.#folder, `kubeconfig-${Bun.hash(token).toString(36)}.json`);
    const config = {
      "current-context": "lab",
      "contexts": [{ name: "lab", context: { cluster: "lab", user: "admin" } }],
      "clusters": [{ name: "lab", cluster: { "server": this.#url, "insecure-skip-tls-verify": true } }],
      "users": [{ name: "admin", user: { token } }],
    };
    await writeFile(path, JSON.stringify(config), { mode: 0o600 });
    return path;
  }

  /** As kubectl, for what must not fail. */
  must(args: readonly string[], input?: string): string {
    const end = this.kubectl(args, input === undefined ? {} : { input });
    if (end.status !== 0) throw new Error(`kubectl ${args.join(" ")} failed: ${end.stderr}`);
    return end.stdout;
  }

  /** A token as kubelet gives it to the pod: it names the pod and its node. */
  tokenOf(pod: { readonly namespace: string; readonly name: string; readonly account: string }): string {
    const uid = this.must(["get", "pod", "-n", pod.namespace, pod.name, "-o", "jsonpath={.metadata.uid}"]);
    const bound = ["--bound-object-kind=Pod", `--bound-object-name=${pod.name}`, `--bound-object-uid=${uid}`];
    return this.must(["create", "token", pod.account, "-n", pod.namespace, ...bound]).trim();
  }

  /** A merge patch of a pod's status as the daemon sends it; kubectl would read the pod's status first, for which there is no right. */
  patchStatus(pod: string, body: unknown, token: string): Promise<Answer> {
    return this.ask({ method: "PATCH", path: statusPath(pod), type: mergePatch, body, token });
  }

  /** The whole pod sent back as a new status, as Multus writes its annotation. */
  putStatus(pod: string, body: unknown, token: string): Promise<Answer> {
    return this.ask({ method: "PUT", path: statusPath(pod), body, token });
  }

  /** A request as it is written: kubectl would read first, choose the options and look things up. */
  async ask({ method, path, body, type = "application/json", token = adminToken, as }: Ask): Promise<Answer> {
    const headers = new Headers({ "authorization": `Bearer ${token}`, "content-type": type });
    if (as !== undefined) headers.set("impersonate-user", as.user);
    if (as?.group !== undefined) headers.set("impersonate-group", as.group);
    const credential = "impersonate-extra-authentication.kubernetes.io%2Fcredential-id";
    if (as?.credential !== undefined) headers.set(credential, as.credential);
    const response = await fetch(`${this.#url}${path}`, {
      method,
      headers,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      tls: { rejectUnauthorized: false },
    });
    return { code: response.status, text: await response.text(), warning: response.headers.get("warning") ?? "" };
  }

  async startApiServer(): Promise<void> {
    this.#apiServer = this.#run(apiServerProgram, this.#apiServerArgs);
    await this.#untilReady();
  }

  /** Ends it and leaves etcd as it is, so that what was stored is there for the next one. */
  async stopApiServer(signal: NodeJS.Signals): Promise<void> {
    if (this.#apiServer === undefined) return;
    this.#children.splice(this.#children.indexOf(this.#apiServer), 1);
    const server = this.#apiServer;
    // One that is asked to end waits a minute for its watchers to go.
    const patience = setTimeout(() => server.kill("SIGKILL"), stopMs);
    await ended(server, signal);
    clearTimeout(patience);
  }

  async stop(): Promise<void> {
    for (const child of this.#children.toReversed()) await ended(child);
    await rm(this.#folder, { recursive: true, force: true });
  }

  async #boot(): Promise<void> {
    const [client, peer, secure] = [await freePort(), await freePort(), await freePort()];
    const file = (name: string): string => join(this.#folder, name);
    const etcd = `http://127.0.0.1:${client}`;
    this.#etcdUrl = etcd;
    this.#run("etcd", [
      ...["--data-dir", file("etcd"), "--unsafe-no-fsync", "--listen-client-urls", etcd],
      ...["--advertise-client-urls", etcd, "--listen-peer-urls", `http://127.0.0.1:${peer}`],
      ...["--initial-advertise-peer-urls", `http://127.0.0.1:${peer}`],
      ...["--initial-cluster", `default=http://127.0.0.1:${peer}`],
    ]);
    const key = spawnSync("openssl", ["genrsa", "-out", file("sa.key"), "2048"]);
    if (key.status !== 0) throw new Error(`openssl failed: ${key.stderr.toString()}`);
    await writeFile(file("tokens.csv"), `${tokenLines.join("\n")}\n`, { mode: 0o600 });
    this.#url = `https://127.0.0.1:${secure}`;
    this.#apiServerArgs = [
      ...["--etcd-servers", etcd, "--secure-port", String(secure), "--bind-address=127.0.0.1"],
      ...["--cert-dir", file("certificates"), "--token-auth-file", file("tokens.csv"), "--authorization-mode=RBAC"],
      ...["--service-account-key-file", file("sa.key"), "--service-account-signing-key-file", file("sa.key")],
      ...["--service-account-issuer=https://kubernetes.default.svc", "--service-cluster-ip-range=10.96.0.0/16"],
      ...["--allow-privileged", "--disable-admission-plugins=ServiceAccount"],
      ...this.#features.map((feature) => `--feature-gates=${feature}=true`),
      ...(this.#auditPolicy === undefined ? [] : await this.#auditArgs(this.#auditPolicy)),
    ];
    await this.startApiServer();
  }

  /** Blocking: the log has a request before its sender has the answer. */
  async #auditArgs(policy: object): Promise<readonly string[]> {
    const file = join(this.#folder, "audit-policy.json");
    await writeFile(file, JSON.stringify(policy));
    return [`--audit-policy-file=${file}`, `--audit-log-path=${this.auditFile}`, "--audit-log-mode=blocking"];
  }

  async #untilReady(): Promise<void> {
    const endsMs = performance.now() + readyMsMax;
    for (;;) {
      if (this.kubectl(["get", "--raw", "/readyz"]).status === 0) return;
      const dead = this.#children.find((child) => child.exitCode !== null);
      if (dead !== undefined || performance.now() > endsMs)
        throw new Error(`The API server did not come up:\n${this.#log.split("\n").slice(-20).join("\n")}`);
      await new Promise((resolve) => setTimeout(resolve, 300));
    }
  }

  #run(program: string, args: readonly string[]): ChildProcess {
    const child = spawn(program, args, { cwd: this.#folder, stdio: ["ignore", "ignore", "pipe"] });
    child.stderr.on("data", (chunk: Buffer) => (this.#log = (this.#log + chunk.toString()).slice(-20_000)));
    this.#children.push(child);
    return child;
  }
}

function statusPath(pod: string): string {
  return `/api/v1/namespaces/default/pods/${pod}/status`;
}

/** kubectl sees the types of a new definition only after a moment. */
export async function untilServed(server: PolicyServer, ...definitions: readonly string[]): Promise<void> {
  for (const name of definitions)
    await until(`${name} is served`, () => server.kubectl(["get", name, "-A"]).status === 0 || undefined);
}

export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.on("error", reject);
    probe.listen(0, "127.0.0.1", () => {
      const address = probe.address();
      probe.close(() => resolve(typeof address === "object" && address !== null ? address.port : 0));
    });
  });
}

function ended(child: ChildProcess, signal: NodeJS.Signals = "SIGKILL"): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve();
  return new Promise((resolve) => {
    child.on("exit", () => resolve());
    child.kill(signal);
  });
}
