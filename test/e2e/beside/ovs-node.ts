import { copyFileSync, existsSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { librariesIn } from "../../peers/debian-programs.ts";
import type { Machine } from "../machine.ts";
import { Program } from "../program.ts";
import { run } from "../run.ts";

export const ovsBridge = "ovs0";
export const ovsSocket = "/var/run/openvswitch/db.sock";
const folders = ["usr/sbin", "usr/bin", "usr/lib/openvswitch-switch", "usr/lib/openvswitch-common"];

/** Open vSwitch on the node. Its datapath is a process, so the kernel needs no module for it. */
export class OvsNode {
  readonly #root: string;
  readonly #database: Program;
  readonly #switch: Program;
  readonly #file: string;

  constructor(machine: Machine, root: string) {
    this.#root = root;
    this.#file = machine.path("ovs.db");
    this.#database = new Program(machine.logFolder, "ovsdb-server", {
      command: [this.#find("ovsdb-server"), `--remote=punix:${ovsSocket}`, this.#file],
      env: this.#env(),
    });
    this.#switch = new Program(machine.logFolder, "ovs-vswitchd", {
      command: [this.#find("ovs-vswitchd"), `unix:${ovsSocket}`],
      env: this.#env(),
    });
  }

  /** With the plugin, which is a program of its own. */
  async install(plugin: string): Promise<void> {
    rmSync("/opt/cni/bin/ovs", { force: true });
    copyFileSync(plugin, "/opt/cni/bin/ovs");
    mkdirSync("/var/run/openvswitch", { recursive: true });
    this.#run("ovsdb-tool", "create", this.#file, join(this.#root, "usr/share/openvswitch/vswitch.ovsschema"));
    await this.startDatabase();
    this.vsctl("--no-wait", "init");
    this.startSwitch();
    this.vsctl("add-br", ovsBridge, "--", "set", "bridge", ovsBridge, "datapath_type=netdev");
  }

  async startDatabase(): Promise<void> {
    this.#database.start();
    await this.#database.untilUp("listens", async () => existsSync(ovsSocket));
  }

  stopDatabase(): Promise<void> {
    return this.#database.stop();
  }

  startSwitch(): void {
    this.#switch.start();
    // A change waits until the switch has carried it out.
    this.vsctl("set", "open_vswitch", ".", `external_ids:seen=${Date.now()}`);
  }

  stopSwitch(): Promise<void> {
    return this.#switch.stop();
  }

  async stop(): Promise<void> {
    for (const program of [this.#switch, this.#database]) await program.stop();
  }

  vsctl(...args: readonly string[]): string {
    return this.#run("ovs-vsctl", `--db=unix:${ovsSocket}`, "--timeout=20", ...args);
  }

  /** Ports of the bridge: one per attached pod. */
  ports(): readonly string[] {
    return this.vsctl("list-ports", ovsBridge).split("\n").filter(Boolean);
  }

  #find(program: string): string {
    const found = folders.map((folder) => join(this.#root, folder, program)).find((path) => existsSync(path));
    if (found === undefined) throw new Error(`There is no ${program} below ${this.#root}`);
    return found;
  }

  #run(program: string, ...args: readonly string[]): string {
    const env = Object.entries(this.#env()).map(([name, value]) => `${name}=${value}`);
    return run("env", ...env, this.#find(program), ...args);
  }

  #env(): Readonly<Record<string, string>> {
    return { LD_LIBRARY_PATH: librariesIn(this.#root) };
  }
}
