import { mkdirSync, readdirSync, readFileSync, rmdirSync } from "node:fs";
import { join } from "node:path";
import { findCgroupLayout } from "../../src/cli/storm/machine/cgroup-layout.ts";

/** A folder inside with no room for a storm. */
export const smallDisk = "/run/small";

/**
 * Namespaces in which a storm has a machine to itself: its own /run, network devices, processes and cgroups. So storms
 * of several test runs, and one of a person, meet neither in names nor in the lock.
 */
export class OwnMachine {
  readonly #roots = groupRoots();
  readonly #group = `levee-storm-test-${process.pid}`;
  readonly #holder: Bun.Subprocess<"ignore", "pipe", "inherit">;

  static async start(): Promise<OwnMachine> {
    const machine = new OwnMachine();
    const { value } = await machine.#holder.stdout.getReader().read();
    if (new TextDecoder().decode(value) !== "ready\n") throw new Error("cannot make namespaces for the storm");
    return machine;
  }

  private constructor() {
    for (const folder of this.#roots) mkdirSync(join(folder, this.#group));
    this.#holder = Bun.spawn(
      ["unshare", "--mount", "--net", "--pid", "--fork", "--kill-child", "--mount-proc", "/bin/sh", "-ec", this.#setUp],
      { stdin: "ignore", stdout: "pipe", stderr: "inherit" },
    );
  }

  /** Starts a program inside. Its end is that of the process returned; signals are for `signal`. */
  spawn(command: readonly string[]): Bun.Subprocess<"ignore", "pipe", "pipe"> {
    const inside = ["nsenter", "--target", `${this.#init}`, "--mount", "--net", "--pid"];
    return Bun.spawn([...inside, ...command], {
      env: { PATH: process.env["PATH"] ?? "" },
      stdin: "ignore",
      stdout: "pipe",
      stderr: "pipe",
    });
  }

  /** The program runs below the process that entered the namespaces, which would keep the signal to itself. */
  signal({ pid }: { readonly pid: number }, signal: NodeJS.Signals): void {
    process.kill(only(childrenOf(pid)), signal);
  }

  /** A path inside, as seen from outside. */
  path(inside: string): string {
    return `/proc/${this.#init}/root${inside}`;
  }

  async stop(): Promise<void> {
    this.#holder.kill("SIGKILL");
    await this.#holder.exited;
    for (const folder of this.#roots) await removed(join(folder, this.#group));
  }

  get #init(): number {
    return only(childrenOf(this.#holder.pid));
  }

  /** The first process waits for whatever has lost its parent, as on a machine. */
  get #setUp(): string {
    return `
mount -t tmpfs -o mode=755 tmpfs /run
mkdir /run/netns /run/cgroup
mount --rbind /sys/fs/cgroup /run/cgroup
mount -t sysfs sysfs /sys
mount --rbind /run/cgroup /sys/fs/cgroup
${this.#roots.map((folder) => `mount --bind ${folder}/${this.#group} ${folder}`).join("\n")}
mkdir ${smallDisk}
mount -t tmpfs -o size=20m tmpfs ${smallDisk}
ip link set lo up
echo ready
sleep infinity &
wait`;
  }
}

/** The folders under which a storm makes its group. */
function groupRoots(): readonly string[] {
  const layout = findCgroupLayout();
  if (layout === undefined) throw new Error("this machine has no memory controller for groups");
  return layout.version === 2 ? [layout.root] : [...new Set([layout.memory, layout.cpu, layout.cpuacct])];
}

/** Nought would be everybody. */
function only(pids: readonly number[]): number {
  const [pid] = pids;
  if (pid === undefined) throw new Error("the process has ended");
  return pid;
}

function childrenOf(pid: number): readonly number[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ").filter(Boolean).map(Number);
}

/** A group is busy until the kernel has done with the last process in it. */
async function removed(folder: string): Promise<void> {
  for (const name of readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory()))
    await removed(join(folder, name.name));
  for (let tries = 0; tries < 100; tries += 1) {
    try {
      rmdirSync(folder);
      return;
    } catch {
      await Bun.sleep(20);
    }
  }
  throw new Error(`cannot remove ${folder}`);
}
