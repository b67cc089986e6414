import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Case, Server, Step, Upstream } from "./case.ts";

const shim = process.env["LEVEE_SHIM"] ?? join(import.meta.dir, "../../dist/levee-shim");
/** The code with which a built-in plugin leaves a call to the program. */
const unsupportedExit = 75;
/** Longer than any call here takes, also on an emulated machine. */
const callMs = 120_000;

/** How a call ended. */
export interface Answer {
  readonly exit: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** What a plugin is asked. */
export interface Asked {
  readonly plugin: string;
  readonly args: string;
  readonly stdin: string;
}

export function isUnsupported(answer: Answer): boolean {
  return answer.exit === unsupportedExit;
}

/**
 * A host and a container: two network namespaces and a folder, with the same names and paths for every server, so that
 * their words can be compared.
 */
export class World implements AsyncDisposable {
  readonly host: string;
  readonly box: string;
  readonly folder: string;
  readonly #upstream: Upstream;
  readonly #case: Case;
  /** The result of the last ADD of each attachment. */
  readonly #results = new Map<string, unknown>();

  private constructor(lane: string, upstream: Upstream, of: Case) {
    this.host = `${lane}h`;
    this.box = `${lane}b`;
    this.folder = `/tmp/${lane}`;
    this.#upstream = upstream;
    this.#case = of;
  }

  /** `lane` is the prefix of all names; worlds of different lanes may live at once. */
  static async make(lane: string, upstream: Upstream, of: Case): Promise<World> {
    const world = new World(lane, upstream, of);
    await world.#clear();
    mkdirSync(world.folder, { recursive: true });
    const prelude = [
      `ip -batch - <<END\nnetns add ${world.host}\nnetns add ${world.box}\nEND`,
      ...world.#commands,
      // A new namespace has the machine's own value, which other work on it may change.
      `for netns in host box; do $netns sh -c 'echo 0 > /proc/sys/net/ipv4/ip_forward'; done`,
      // Otherwise addresses and their routes come when the kernel has found no duplicate.
      `host sh -c 'for name in all default; do echo 0 > /proc/sys/net/ipv6/conf/$name/accept_dad; done'`,
    ];
    await world.shell([...prelude, ...of.before].join("\n"));
    return world;
  }

  /** Commands for the lines of a case. */
  get #commands(): readonly string[] {
    return [
      `host() { nsenter --net=/run/netns/${this.host} "$@"; }`,
      `box() { nsenter --net=/run/netns/${this.box} "$@"; }`,
      `cd ${this.folder}`,
    ];
  }

  get isOnlyFiles(): boolean {
    return this.#case.isOnlyFiles === true;
  }

  /** The text of the configuration for a step. */
  conf(step: Step): string {
    const before = this.#results.get(`${step.id}/${step.ifname}`);
    const isYoung = String(this.#case.conf["cniVersion"]) >= "0.4.0";
    const isAfter = (step.command === "CHECK" || step.command === "DEL") && isYoung && before !== undefined;
    const conf = isAfter ? { ...this.#case.conf, prevResult: before } : this.#case.conf;
    return JSON.stringify(conf).replaceAll("$FOLDER", this.folder).replaceAll("$BOX", this.box);
  }

  async call(step: Step, server: Server): Promise<Answer> {
    if (step.first !== undefined) await this.shell([...this.#commands, step.first].join("\n"));
    const answer = await this.callWith(step, server, { ...this.#case, stdin: this.conf(step) });
    if (step.command === "ADD" && answer.exit === 0)
      this.#results.set(`${step.id}/${step.ifname}`, JSON.parse(answer.stdout));
    return answer;
  }

  /** A call with another configuration than that of the world's case. */
  async callWith(step: Step, server: Server, of: Asked): Promise<Answer> {
    const { folder, version } = this.#upstream;
    const { plugin, args, stdin } = of;
    const program = server === "program" ? [join(folder, plugin)] : [shim, "plugin", plugin, version];
    const env = {
      PATH: process.env["PATH"] ?? "",
      CNI_COMMAND: step.command,
      CNI_CONTAINERID: step.id,
      CNI_NETNS: `/run/netns/${this.box}`,
      CNI_IFNAME: step.ifname,
      CNI_ARGS: args,
      CNI_PATH: folder,
    };
    const child = Bun.spawn(["nsenter", `--net=/run/netns/${this.host}`, ...program], {
      env,
      stdin: Buffer.from(stdin),
      stdout: "pipe",
      stderr: "pipe",
      timeout: callMs,
      killSignal: "SIGKILL",
    });
    const [stdout, stderr, exit] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
      child.exited,
    ]);
    return { exit, stdout, stderr };
  }

  async shell(script: string): Promise<string> {
    const child = Bun.spawn(["sh", "-e", "-c", script], { stdout: "pipe", stderr: "pipe" });
    const [stdout, stderr] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
      child.exited,
    ]);
    if (child.exitCode !== 0) throw new Error(`Cannot make the world: ${stderr}\n${script}`);
    return stdout;
  }

  async #clear(): Promise<void> {
    const deletes = [this.host, this.box].map((netns) => `netns delete ${netns}`);
    await this.shell([`ip -force -batch - 2>/dev/null <<END || true`, ...deletes, "END"].join("\n"));
    rmSync(this.folder, { recursive: true, force: true });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#clear();
  }
}
