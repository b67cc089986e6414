import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { copyFile, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { NodeAnswer } from "../../src/wire/node-view.ts";
import { ask } from "./ask.ts";

const root = join(import.meta.dir, "../..");
export const leveeProgram = join(root, "dist/levee");
const shimProgram = join(root, "dist/levee-shim");
/** As /proc/net/unix writes it. */
const connectedState = "03";
export const distributionPlugins = "/usr/lib/cni";

/** The outcome of a CNI call through the real shim. */
export interface CniOutcome {
  readonly exitCode: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface CniCall {
  readonly containerId: string;
  readonly netns?: string;
  readonly ifname?: string;
  readonly args?: string;
  readonly path?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly conf?: string;
  /** What the shim is started with, such as a command that puts it into a cgroup. */
  readonly prefix?: readonly string[];
}

/** The commands of the two programs: those of this checkout, or others, such as emulated ones. */
export interface LabPrograms {
  readonly levee: readonly [string, ...string[]];
  readonly shim: readonly [string, ...string[]];
}

const builtPrograms: LabPrograms = { levee: [leveeProgram], shim: [shimProgram] };

/** One call that a programmable plugin wrote down. */
export interface PluginCall {
  readonly plugin: string;
  readonly command: string;
  readonly containerId: string;
  readonly ifname: string;
  readonly env: Readonly<Record<string, string>>;
  readonly stdin: string;
  readonly ended: boolean;
}

/** A node in a temporary folder: the real daemon, shim and hand, programmable plugins, and network namespaces. */
export class Lab {
  readonly folder: string;
  readonly id = randomBytes(3).toString("hex");
  readonly #programs: LabPrograms;
  readonly #netns = new Set<string>();
  #daemon: ChildProcess | undefined;
  #hand: ChildProcess | undefined;
  #daemonLog = "";

  private constructor(folder: string, programs: LabPrograms) {
    this.folder = folder;
    this.#programs = programs;
  }

  static async make(programs = builtPrograms): Promise<Lab> {
    for (const program of [programs.levee, programs.shim].map((command) => command.at(-1) ?? "")) {
      if (!existsSync(program)) throw new Error(`Cannot test as ${program} is not built; run: npm run build`);
    }
    const lab = new Lab(await mkdtemp(join(tmpdir(), "levee-lab-")), programs);
    for (const name of [
      "bin",
      "control/calls",
      "control/answers",
      "control/scripts",
      "directory/pods",
      "directory/networks",
      "confdir",
    ]) {
      await mkdir(lab.path(name), { recursive: true });
    }
    await copyFile(join(root, "test/lab/programmable-plugin"), lab.path("bin/programmable"));
    await lab.configure({});
    return lab;
  }

  path(...parts: string[]): string {
    return join(this.folder, ...parts);
  }

  get socketDir(): string {
    return this.path("run");
  }

  get stateDir(): string {
    return this.path("state");
  }

  get cniDir(): string {
    return this.path("multus");
  }

  /** Writes the daemon's configuration: temporary folders, and what the test adds. */
  async configure(settings: Readonly<Record<string, unknown>>): Promise<void> {
    const config = {
      cniVersion: "1.1.0",
      socketDir: this.socketDir,
      stateDir: this.stateDir,
      cniDir: this.cniDir,
      confDir: this.path("confdir"),
      binDir: this.path("bin"),
      directory: this.path("directory"),
      logLevel: "debug",
      // The plugins make the bridges of most tests, which lead nowhere.
      uplinkGate: 0,
      ...settings,
    };
    await writeFile(this.path("daemon-config.json"), JSON.stringify(config, undefined, 2));
  }

  /** Adds a name under which the programmable plugin can be called. */
  async plugin(name: string): Promise<void> {
    await symlink("programmable", this.path("bin", name));
  }

  /** Tells a plugin what to print (`ADD` for all plugins, or `name.ADD`). */
  async answer(key: string, text: string): Promise<void> {
    await writeFile(this.path("control/answers", key), text);
  }

  /** Shell lines that a plugin runs before it answers. */
  async script(key: string, lines: string): Promise<void> {
    await writeFile(this.path("control/scripts", key), lines);
  }

  async unscript(key: string): Promise<void> {
    await rm(this.path("control/scripts", key), { force: true });
  }

  /** A plugin's configuration with the control folder in it. */
  conf(type: string, more: Readonly<Record<string, unknown>> = {}): Record<string, unknown> {
    return { type, controlDir: this.path("control"), ...more };
  }

  async network(
    name: string,
    config: unknown,
    namespace = "default",
    annotations: Readonly<Record<string, string>> = {},
  ): Promise<void> {
    const text = typeof config === "string" ? config : JSON.stringify(config);
    const object = {
      apiVersion: "k8s.cni.cncf.io/v1",
      kind: "NetworkAttachmentDefinition",
      metadata: { name, namespace, annotations },
      spec: { config: text },
    };
    await writeFile(this.path("directory/networks", `${namespace}.${name}.json`), JSON.stringify(object));
  }

  async pod(name: string, annotations: Readonly<Record<string, string>>, namespace = "default"): Promise<void> {
    const object = { apiVersion: "v1", kind: "Pod", metadata: { name, namespace, annotations } };
    await writeFile(this.path("directory/pods", `${namespace}.${name}.json`), JSON.stringify(object));
  }

  async startDaemon(env: Readonly<Record<string, string>> = {}, prefix: readonly string[] = []): Promise<ChildProcess> {
    const daemon = this.launchDaemon(env, prefix);
    await this.untilReady();
    return daemon;
  }

  /** Starts the daemon without waiting for it. Its log is kept, unless it goes to a file that the test has open. */
  launchDaemon(
    env: Readonly<Record<string, string>> = {},
    prefix: readonly string[] = [],
    log: number | "pipe" = "pipe",
  ): ChildProcess {
    const [program, ...argv] = [
      ...prefix,
      ...this.#programs.levee,
      "daemon",
      "--config",
      this.path("daemon-config.json"),
    ];
    const daemon = spawn(program, argv, {
      env: { PATH: process.env["PATH"] ?? "", ...env },
      stdio: ["ignore", "ignore", log],
    });
    daemon.stderr?.on("data", (chunk: Buffer) => (this.#daemonLog += chunk.toString()));
    this.#daemon = daemon;
    return daemon;
  }

  async untilReady(): Promise<NodeAnswer> {
    return this.until("the daemon answers", async () => {
      if (this.#daemon?.exitCode !== null && this.#daemon?.exitCode !== undefined)
        throw new Error(`The daemon ended with ${this.#daemon.exitCode}:\n${this.#daemonLog}`);
      return ask<NodeAnswer>(this.socketDir, { ask: "node" }).catch(() => undefined);
    });
  }

  async killDaemon(signal: NodeJS.Signals = "SIGKILL"): Promise<number | null> {
    return kill(this.#daemon, signal);
  }

  async startHand(): Promise<ChildProcess> {
    const [program, ...argv] = [...this.#programs.shim, "--resident", "--socket-dir", this.socketDir];
    const hand = spawn(program, argv, {
      env: { PATH: process.env["PATH"] ?? "" },
      stdio: ["ignore", "ignore", "pipe"],
    });
    hand.stderr?.resume();
    this.#hand = hand;
    await this.until("the resident hand is connected", async () => {
      const node = await ask<NodeAnswer>(this.socketDir, { ask: "node" });
      return node.residentHands.some((resident) => resident.pid === hand.pid) || undefined;
    });
    return hand;
  }

  get handPid(): number | undefined {
    return this.#hand?.pid;
  }

  async killHand(signal: NodeJS.Signals = "SIGKILL"): Promise<number | null> {
    return kill(this.#hand, signal);
  }

  get daemonLog(): string {
    return this.#daemonLog;
  }

  /** The conf with which a runtime starts the shim. */
  shimConf(more: Readonly<Record<string, unknown>> = {}): string {
    return JSON.stringify({
      cniVersion: "1.1.0",
      name: "levee",
      type: "levee-shim",
      daemonSocketDir: this.socketDir,
      stateDir: this.stateDir,
      ...more,
    });
  }

  /** Starts a CNI call through the real shim, as a runtime would. */
  start(verb: string, call: CniCall): { readonly process: ChildProcess; readonly outcome: Promise<CniOutcome> } {
    const env: Record<string, string> = {
      PATH: process.env["PATH"] ?? "",
      CNI_COMMAND: verb,
      CNI_CONTAINERID: call.containerId,
      CNI_NETNS: call.netns ?? "",
      CNI_IFNAME: call.ifname ?? "eth0",
      CNI_ARGS: call.args ?? "",
      CNI_PATH: call.path ?? `${this.path("bin")}:${distributionPlugins}`,
      ...call.env,
    };
    const [program = "", ...argv] = [...(call.prefix ?? []), ...this.#programs.shim];
    const child = spawn(program, argv, { env, stdio: ["pipe", "pipe", "pipe"] });
    child.stdin.on("error", () => undefined);
    child.stdin.end(call.conf ?? this.shimConf());
    return { process: child, outcome: collect(child) };
  }

  cni(verb: string, call: CniCall): Promise<CniOutcome> {
    return this.start(verb, call).outcome;
  }

  /** A new network namespace; removed at the end. */
  netns(name: string): string {
    const full = `lab-${this.id}-${name}`;
    ip(["netns", "add", full]);
    this.#netns.add(full);
    return `/var/run/netns/${full}`;
  }

  /** Makes another path lead to a namespace; removed at the end. */
  async bindNetns(from: string, path: string): Promise<void> {
    await writeFile(path, "");
    const { status, stderr } = spawnSync("mount", ["--bind", from, path], { encoding: "utf8" });
    if (status !== 0) throw new Error(`mount --bind ${from} ${path} failed: ${stderr}`);
    this.#netns.add(path.slice(path.lastIndexOf("/") + 1));
  }

  deleteNetns(path: string): void {
    const name = path.slice(path.lastIndexOf("/") + 1);
    this.#netns.delete(name);
    ip(["netns", "delete", name]);
  }

  podArgs(name: string, namespace = "default"): string {
    return `IgnoreUnknown=1;K8S_POD_NAMESPACE=${namespace};K8S_POD_NAME=${name}`;
  }

  /** The calls of the programmable plugins, in order. */
  async calls(): Promise<readonly PluginCall[]> {
    const all = await readdir(this.path("control/calls"));
    // A call counts once its plugin has written down what it was given.
    const names = all.filter((name) => existsSync(this.path("control/calls", name, "began"))).toSorted();
    return Promise.all(names.map((name) => this.#readCall(name)));
  }

  async forgetCalls(): Promise<void> {
    await rm(this.path("control/calls"), { recursive: true, force: true });
    await mkdir(this.path("control/calls"));
  }

  ask<T>(question: Parameters<typeof ask>[1]): Promise<T> {
    return ask<T>(this.socketDir, question);
  }

  /** Waits until so many shims are connected and the daemon has come round to them. */
  async untilConnected(count: number): Promise<void> {
    // The daemon's socket is bound under another name before it gets its own.
    const folder = ` ${this.socketDir}/`;
    await this.until(`${count} shims are connected`, async () => {
      const sockets = (await readFile("/proc/net/unix", "utf8")).split("\n");
      const connected = sockets.filter((line) => line.includes(folder) && line.split(/ +/u)[5] === connectedState);
      return connected.length >= count ? true : undefined;
    });
    // Connections are served in their order: behind this answer the ones before it have been read.
    await this.ask<NodeAnswer>({ ask: "node" });
  }

  /** Waits until `look` finds something; fails with what was waited for. */
  async until<T>(what: string, look: () => Promise<T | undefined>, timeoutMs = 15_000): Promise<T> {
    const endsMs = performance.now() + timeoutMs;
    for (;;) {
      const found = await look();
      if (found !== undefined) return found;
      if (performance.now() > endsMs)
        throw new Error(
          `Waited ${timeoutMs} ms in vain until ${what}\n${this.#daemonLog.split("\n").slice(-20).join("\n")}`,
        );
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  async remove(): Promise<void> {
    await this.killHand();
    await this.killDaemon();
    for (const name of this.#netns) spawnSync("ip", ["netns", "delete", name]);
    await rm(this.folder, { recursive: true, force: true });
  }

  /** `await using lab = …` removes it at the end of the test, whatever happened. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.remove();
  }

  async #readCall(name: string): Promise<PluginCall> {
    const [, plugin = "", command = "", containerId = "", ifname = ""] =
      /^\d+-([^-]+)-([A-Z]+)-(.+)-([^-]+)$/.exec(name) ?? [];
    const folder = this.path("control/calls", name);
    const env = (await readFile(join(folder, "env"), "utf8")).split("\n").filter((line) => line.includes("="));
    return {
      plugin,
      command,
      containerId,
      ifname,
      env: Object.fromEntries(env.map((line) => [line.slice(0, line.indexOf("=")), line.slice(line.indexOf("=") + 1)])),
      stdin: await readFile(join(folder, "stdin"), "utf8"),
      ended: existsSync(join(folder, "ended")),
    };
  }
}

export function ip(args: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync("ip", args, { encoding: "utf8" });
  if (status !== 0) throw new Error(`ip ${args.join(" ")} failed: ${stderr}`);
  return stdout;
}

function collect(child: ChildProcess): Promise<CniOutcome> {
  let stdout = "";
  let stderr = "";
  child.stdout?.on("data", (chunk: Buffer) => (stdout += chunk.toString()));
  child.stderr?.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (exitCode, signal) => resolve({ exitCode, signal, stdout, stderr }));
  });
}

function kill(child: ChildProcess | undefined, signal: NodeJS.Signals): Promise<number | null> {
  if (child === undefined || child.exitCode !== null || child.signalCode !== null)
    return Promise.resolve(child?.exitCode ?? null);
  return new Promise((resolve) => {
    child.on("exit", (code) => resolve(code));
    child.kill(signal);
  });
}
