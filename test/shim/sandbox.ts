import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { NetnsPath, PluginType } from "../../src/base/brand.ts";
import type { RunOrder } from "../../src/wire/messages.ts";
import { ShimProcess } from "./shim-process.ts";

/** Folders, plugins and namespaces of one test; everything is gone after `clean`. */
export class Sandbox {
  readonly root = mkdtempSync(join(tmpdir(), "levee-shim-test-"));
  readonly socketDir = join(this.root, "run");
  readonly stateDir = join(this.root, "state");
  readonly binDir = join(this.root, "bin");
  readonly #namespaces: string[] = [];
  readonly #processes: ShimProcess[] = [];

  constructor() {
    mkdirSync(this.socketDir, { mode: 0o700 });
    mkdirSync(this.binDir);
  }

  /** Starts the shim as a runtime does. Conf keys and variables can be changed or, with undefined, left out. */
  call(verb: string, conf: Conf = {}, env: Env = {}, through: readonly string[] = []): ShimProcess {
    const variables: Env = {
      CNI_COMMAND: verb,
      CNI_CONTAINERID: "c1",
      CNI_NETNS: "/run/netns/none",
      CNI_IFNAME: "eth0",
      CNI_PATH: this.binDir,
      PATH: process.env["PATH"],
      ...env,
    };
    return this.start([], this.conf(conf), variables, through);
  }

  conf(changes: Conf = {}): string {
    return JSON.stringify({
      cniVersion: "1.1.0",
      name: "levee",
      type: "levee-shim",
      daemonSocketDir: this.socketDir,
      stateDir: this.stateDir,
      ...changes,
    });
  }

  start(args: readonly string[], stdin: string, env: Env, through: readonly string[] = []): ShimProcess {
    const shim = new ShimProcess(args, stdin, env, through);
    this.#processes.push(shim);
    return shim;
  }

  resident(through: readonly string[] = []): ShimProcess {
    return this.start(["--resident", "--socket-dir", this.socketDir], "", { PATH: process.env["PATH"] }, through);
  }

  /** A plugin that is a shell script. It may use $DIR for the sandbox's folder. */
  plugin(name: string, body: string): PluginType {
    const path = join(this.binDir, name);
    writeFileSync(path, `#!/bin/sh\nDIR=${this.root}\n${body}\n`);
    chmodSync(path, 0o755);
    return name as PluginType;
  }

  /** An order to run a plugin for the call's own container, with what the test changes. */
  run(plugin: PluginType, changes: Partial<RunOrder> = {}): RunOrder {
    const env = {
      CNI_COMMAND: "ADD",
      CNI_CONTAINERID: "c1",
      CNI_NETNS: "/run/netns/none",
      CNI_IFNAME: "eth0",
      CNI_PATH: this.binDir,
    };
    return { plugin, env, stdin: "{}", timeoutMs: 5_000, ...changes };
  }

  path(name: string): string {
    return join(this.root, name);
  }

  read(name: string): string {
    return existsSync(this.path(name)) ? readFileSync(this.path(name), "utf8") : "";
  }

  /** A process ID that a plugin wrote into a file, once it is there. */
  async pidIn(name: string): Promise<number> {
    await eventually(() => this.read(name).endsWith("\n"), `${name} holds a process ID`);
    return Number(this.read(name).trim());
  }

  netns(name: string): NetnsPath {
    const full = `levee-shim-test-${process.pid}-${name}`;
    ip("netns", "add", full);
    this.#namespaces.push(full);
    return `/run/netns/${full}` as NetnsPath;
  }

  clean(): void {
    for (const shim of this.#processes) shim.kill();
    for (const name of this.#namespaces) ip("netns", "del", name);
    rmSync(this.root, { recursive: true, force: true });
  }
}

export type Conf = Readonly<Record<string, unknown>>;
export type Env = Readonly<Record<string, string | undefined>>;

export function ip(...args: string[]): string {
  return execFileSync("ip", args, { encoding: "utf8" });
}

/** `ip` inside a namespace made by the sandbox. */
export function ipIn(netns: NetnsPath, ...args: string[]): string {
  return ip("-n", netns.slice("/run/netns/".length), ...args);
}

/** The names of the host's interfaces. Other tests add and remove some at any time. */
export function hostLinks(): readonly string[] {
  const lines = readFileSync("/proc/net/dev", "utf8").split("\n").slice(2);
  return lines.map((line) => line.split(":", 1)[0]?.trim() ?? "").filter((name) => name !== "");
}

/** Those interfaces of the host that were there before and are there now. */
export function lasting(before: readonly string[]): readonly string[] {
  const now = new Set(hostLinks());
  return before.filter((name) => now.has(name));
}

export async function eventually(isTrue: () => boolean, what: string, withinMs = 3_000): Promise<void> {
  const end = performance.now() + withinMs;
  while (!isTrue()) {
    if (performance.now() > end) throw new Error(`Cannot go on: within ${withinMs} ms it did not happen that ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

/** A zombie is dead: it only waits for its parent. */
export function isAlive(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    return !["Z", "X"].includes(stat.slice(stat.lastIndexOf(")") + 2, stat.lastIndexOf(")") + 3));
  } catch {
    return false;
  }
}
