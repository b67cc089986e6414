import { spawn, type ChildProcess } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { CniCall, CniOutcome, Lab } from "../../lab/lab.ts";
import { peerFolder } from "../../peers/peer.ts";
import { until } from "../until.ts";

/** The newest release, and the last word on what the bytes are. */
const version = "v4.3.0";

const bin = join(peerFolder("multus", version), "bin");
export const multusShim = join(bin, "multus-shim");

/**
 * The folder of a Multus of the main branch, which the module proxy does not offer: `LEVEE_MULTUS_HEAD` names its
 * `multus-daemon`, with `multus-shim` beside it.
 */
export function givenMultusHead(): string | undefined {
  const given = process.env["LEVEE_MULTUS_HEAD"] ?? "";
  if (given === "") return undefined;
  for (const program of [given, join(dirname(given), "multus-shim")])
    if (!existsSync(program)) throw new Error(`Cannot use LEVEE_MULTUS_HEAD as there is no ${program}`);
  return dirname(given);
}

export function missingForMultus(): string | undefined {
  const program = join(bin, "multus-daemon");
  return existsSync(program) ? undefined : `${program} is not built (npm run e2e builds it)`;
}

/**
 * /run is a folder of its own in there, since Multus has fixed paths below it for its token and for device facts;
 * network namespaces that are made later appear in it all the same.
 */
const ownRun = `
set -e
mount -t tmpfs -o mode=755 tmpfs "$RUN"
mkdir -p "$RUN/netns" "$RUN/secrets/kubernetes.io/serviceaccount"
mount --rbind /run/netns "$RUN/netns"
mount --bind "$ACCOUNT" "$RUN/secrets/kubernetes.io/serviceaccount"
mount --rbind "$RUN" /run
for folder in $OWN; do mkdir -p "$folder" "$RUN-own$folder"; mount --bind "$RUN-own$folder" "$folder"; done
exec "$@"
`;

export interface MultusOptions {
  /** Settings of daemon-config.json that take the place of ours; `undefined` leaves one to the runtime's conf. */
  readonly settings?: Readonly<Record<string, unknown>>;
  /** Folders of which Multus and its plugins have their own copy under the same path. */
  readonly ownFolders?: readonly string[];
  /** Where its programs are, if it is not the release. */
  readonly bin?: string;
}

/** The real Multus of a release beside the lab's Levee: same plugins, same pods, same API server. */
export class MultusNode {
  readonly #lab: Lab;
  readonly #options: MultusOptions;
  #daemon: ChildProcess | undefined;
  #log = "";

  constructor(lab: Lab, options: MultusOptions = {}) {
    this.#lab = lab;
    this.#options = options;
  }

  /** There must be a network namespace already, or /run/netns is not a mount that shows later ones. */
  async start(options: { readonly accountFolder: string; readonly apiPort: number; readonly node: string }) {
    for (const name of ["run", "net.d", "out"]) await mkdir(this.#path(name), { recursive: true });
    const primary = { cniVersion: "1.0.0", name: "primary", ...this.#lab.conf("first") };
    await writeFile(this.#path("net.d/10-primary.conf"), JSON.stringify(primary));
    await writeFile(this.#path("daemon-config.json"), JSON.stringify(this.#settings()));
    const command = [join(this.#bin, "multus-daemon"), "-config", this.#path("daemon-config.json")];
    const daemon = spawn("unshare", ["--mount", "--propagation", "slave", "/bin/sh", "-c", ownRun, "sh", ...command], {
      env: {
        PATH: process.env["PATH"] ?? "",
        RUN: this.#path("run"),
        ACCOUNT: options.accountFolder,
        OWN: (this.#options.ownFolders ?? []).join(" "),
        KUBERNETES_SERVICE_HOST: "127.0.0.1",
        KUBERNETES_SERVICE_PORT: String(options.apiPort),
        MULTUS_NODE_NAME: options.node,
      },
      stdio: ["ignore", "pipe", "pipe"],
    });
    for (const stream of [daemon.stdout, daemon.stderr])
      stream.on("data", (chunk: Buffer) => (this.#log += chunk.toString()));
    this.#daemon = daemon;
    await until("Multus has made its conf", () => {
      if (daemon.exitCode !== null) throw new Error(`Multus has ended:\n${this.#log.slice(-2_000)}`);
      return existsSync(this.#path("out/00-multus.conf")) || undefined;
    });
  }

  /** Where Multus keeps what it needs for DEL. */
  get cacheDir(): string {
    return this.#path("cache");
  }

  get log(): string {
    return this.#log;
  }

  /** Where Multus sees one of its own folders. */
  ownFolder(folder: string): string {
    return `${this.#path("run")}-own${folder}`;
  }

  /** A CNI call through Multus' own shim. `conf` holds what the conf of the runtime would. */
  cni(verb: string, call: CniCall, conf: Readonly<Record<string, unknown>>): Promise<CniOutcome> {
    const child = spawn(join(this.#bin, "multus-shim"), [], {
      env: this.#envOf(verb, call),
      stdio: ["pipe", "pipe", "pipe"],
    });
    child.stdin.end(this.#confOf(conf));
    let [stdout, stderr] = ["", ""];
    child.stdout.on("data", (chunk: Buffer) => (stdout += chunk.toString()));
    child.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
    return new Promise((resolve, reject) => {
      child.on("error", reject);
      child.on("close", (exitCode, signal) => resolve({ exitCode, signal, stdout, stderr }));
    });
  }

  /** The same without the shim, which answers every DEL with success; gives the daemon's complaint. */
  async complaint(verb: string, call: CniCall, conf: Readonly<Record<string, unknown>>): Promise<string | undefined> {
    const config = Buffer.from(this.#confOf(conf)).toString("base64");
    const body = JSON.stringify({ env: this.#envOf(verb, call), config });
    const unix = this.#path("socket/multus.sock");
    try {
      const answer = await fetch("http://localhost/cni", { unix, method: "POST", body });
      const text = await answer.text();
      return answer.ok ? undefined : text;
    } catch (thrown) {
      // A handler that panics closes the connection.
      if (thrown instanceof Error && "code" in thrown && thrown.code === "ECONNRESET") return "no answer";
      throw thrown;
    }
  }

  async stop(): Promise<void> {
    const daemon = this.#daemon;
    if (daemon === undefined || daemon.exitCode !== null || daemon.signalCode !== null) return;
    await new Promise<void>((resolve) => {
      daemon.on("exit", () => resolve());
      daemon.kill("SIGKILL");
    });
  }

  #envOf(verb: string, call: CniCall): Record<string, string> {
    return {
      PATH: process.env["PATH"] ?? "",
      CNI_COMMAND: verb,
      CNI_CONTAINERID: call.containerId,
      CNI_NETNS: call.netns ?? "",
      CNI_IFNAME: call.ifname ?? "eth0",
      CNI_ARGS: call.args ?? "",
      CNI_PATH: this.#lab.path("bin"),
      ...call.env,
    };
  }

  #confOf(conf: Readonly<Record<string, unknown>>): string {
    const names = { name: "levee", type: "multus-shim", daemonSocketDir: this.#path("socket") };
    return JSON.stringify({ cniVersion: "1.1.0", ...names, ...conf });
  }

  #settings(): Readonly<Record<string, unknown>> {
    return {
      cniVersion: "1.1.0",
      logLevel: "verbose",
      logToStderr: true,
      multusConfigFile: "auto",
      multusAutoconfigDir: this.#path("net.d"),
      cniConfigDir: this.#path("out"),
      socketDir: this.#path("socket"),
      cniDir: this.#path("cache"),
      binDir: this.#lab.path("bin"),
      confDir: this.#lab.path("confdir"),
      ...this.#options.settings,
    };
  }

  get #bin(): string {
    return this.#options.bin ?? bin;
  }

  #path(name: string): string {
    return this.#lab.path("multus-node", name);
  }
}
