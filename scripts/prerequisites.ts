/**
 * The prerequisites to build, test and start Levee. On Debian and Ubuntu, as root, missing packages are installed.
 * Elsewhere the exact command is printed. `bun scripts/prerequisites.ts --for build|test|start|e2e|neighbours|vm|bench`
 */
import { spawnSync } from "node:child_process";
import { accessSync, constants, existsSync } from "node:fs";
import { delimiter, join } from "node:path";

const purposes = ["build", "test", "start", "e2e", "neighbours", "vm", "bench"] as const;

export type Purpose = (typeof purposes)[number];

export interface Missing {
  /** The missing thing, in words. */
  readonly what: string;
  /** The Debian package that has it; undefined if there is none. */
  readonly debianPackage: string | undefined;
}

/** The machine as the checks see it, so that tests can replace it. */
export interface Machine {
  readonly platform: string;
  readonly isRoot: boolean;
  hasProgram(name: string): boolean;
  hasFile(path: string): boolean;
}

const pluginFolders = ["/opt/cni/bin", "/usr/lib/cni"];
/** The plugins that the demonstration and the tests run. */
const plugins = ["bridge", "host-local", "macvlan", "ptp", "portmap", "tuning", "static", "loopback"];
const staticLibraries = [
  "/usr/lib/x86_64-linux-gnu/libc.a",
  "/usr/lib/aarch64-linux-gnu/libc.a",
  "/usr/lib64/libc.a",
  "/usr/lib/libc.a",
];

/** The first folder that has all plugins, for CNI_PATH. */
export function pluginFolder(machine: Machine): string | undefined {
  return pluginFolders.find((folder) => plugins.every((plugin) => machine.hasFile(join(folder, plugin))));
}

/** Everything the machine lacks for the purpose, in the order in which a person would fix it. */
export function missingFor(purpose: Purpose, machine: Machine): readonly Missing[] {
  if (machine.platform !== "linux") return [{ what: `Linux (this is ${machine.platform})`, debianPackage: undefined }];
  const missing = [...missingForBuild(machine)];
  if (purpose !== "build") missing.push(...missingForNetworks(machine));
  if (purpose === "test")
    missing.push(...missingForAlerts(machine), ...missingForHealth(machine), ...missingForGit(machine));
  if (purpose === "e2e" || purpose === "neighbours")
    missing.push(...missingForCluster(machine), ...missingForHealth(machine), ...missingForImages(machine));
  // The guard reads a real Alertmanager, and runs git.
  if (purpose === "e2e")
    missing.push(...missingForAlerts(machine), ...missingForGit(machine), ...missingForBrowser(machine));
  if (purpose === "neighbours") missing.push(...missingForNeighbours(machine));
  if (purpose === "vm") missing.push(...missingForCluster(machine), ...missingForMachine(machine));
  if (purpose === "bench") missing.push(...missingForBench(machine));
  return missing;
}

function missingForBuild(machine: Machine): readonly Missing[] {
  const missing: Missing[] = [];
  if (!machine.hasProgram("cargo")) missing.push({ what: "cargo, to build the shim", debianPackage: "cargo" });
  if (!machine.hasProgram("cc")) missing.push({ what: "cc, to link the shim", debianPackage: "gcc" });
  if (!staticLibraries.some((path) => machine.hasFile(path))) {
    missing.push({ what: "a static C library (libc.a), to link the shim", debianPackage: "libc6-dev" });
  }
  return missing;
}

function missingForNetworks(machine: Machine): readonly Missing[] {
  const missing: Missing[] = [];
  if (!machine.isRoot) missing.push({ what: "root, to make network namespaces", debianPackage: undefined });
  if (!machine.hasProgram("ip")) missing.push({ what: "ip, from iproute2", debianPackage: "iproute2" });
  if (!machine.hasProgram("ps")) missing.push({ what: "ps, from procps", debianPackage: "procps" });
  if (pluginFolder(machine) === undefined) {
    const what = `the CNI plugins ${plugins.join(", ")} in ${pluginFolders.join(" or ")}`;
    missing.push({ what, debianPackage: "containernetworking-plugins" });
  }
  return missing;
}

/** The programs that replay, scrape and send the alerts, and that read the mixin. */
function missingForAlerts(machine: Machine): readonly Missing[] {
  const programs = {
    "promtool": "prometheus",
    "prometheus-alertmanager": "prometheus-alertmanager",
    "jsonnet": "jsonnet",
  };
  return Object.entries(programs)
    .filter(([program]) => !machine.hasProgram(program))
    .map(([program, debianPackage]) => ({ what: `${program}, for the alerts`, debianPackage }));
}

/** Argo CD's health checks are Lua 5.1. */
function missingForHealth(machine: Machine): readonly Missing[] {
  return machine.hasProgram("lua5.1") ? [] : [{ what: "lua5.1, for the health checks", debianPackage: "lua5.1" }];
}

/** The guard locks limits with git, and git-guard wraps it. */
function missingForGit(machine: Machine): readonly Missing[] {
  return machine.hasProgram("git") ? [] : [{ what: "git, for the guard", debianPackage: "git" }];
}

/** The parts of a node that come from Debian. test/peers builds those that come from Go modules. */
function missingForCluster(machine: Machine): readonly Missing[] {
  const programs = { etcd: "etcd-server", containerd: "containerd", runc: "runc", openssl: "openssl" };
  const missing: Missing[] = Object.entries(programs)
    .filter(([program]) => !machine.hasProgram(program))
    .map(([program, debianPackage]) => ({ what: program, debianPackage }));
  if (!machine.hasFile("/bin/busybox"))
    missing.push({ what: "busybox, statically linked, for images", debianPackage: "busybox-static" });
  return missing;
}

/** Programs that load the images, and that run those of another architecture. */
function missingForImages(machine: Machine): readonly Missing[] {
  const programs = {
    "skopeo": "skopeo",
    "podman": "podman",
    "docker-registry": "docker-registry",
    "qemu-aarch64-static": "qemu-user-static",
  };
  return Object.entries(programs)
    .filter(([program]) => !machine.hasProgram(program))
    .map(([program, debianPackage]) => ({ what: `${program}, for the images`, debianPackage }));
}

/** The tests of the console's page. */
function missingForBrowser(machine: Machine): readonly Missing[] {
  return machine.hasProgram("chromium") ? [] : [{ what: "chromium, for the console", debianPackage: "chromium" }];
}

/** Programs of Debian that neighbours need. Not the package redis-server, which would start a service. */
function missingForNeighbours(machine: Machine): readonly Missing[] {
  const missing: Missing[] = [];
  if (!machine.hasProgram("redis-check-rdb"))
    missing.push({ what: "redis, for Argo CD", debianPackage: "redis-tools" });
  if (!machine.hasProgram("tcpdump")) missing.push({ what: "tcpdump, for DHCP", debianPackage: "tcpdump" });
  return missing;
}

/** A virtual machine and the tools that make its image. */
function missingForMachine(machine: Machine): readonly Missing[] {
  const programs = {
    "qemu-system-x86_64": "qemu-system-x86",
    "qemu-img": "qemu-utils",
    "mmdebstrap": "mmdebstrap",
    "mke2fs": "e2fsprogs",
    "ssh": "openssh-client",
  };
  return Object.entries(programs)
    .filter(([program]) => !machine.hasProgram(program))
    .map(([program, debianPackage]) => ({ what: `${program}, for the virtual machine`, debianPackage }));
}

/** Tools for a separate disk and slower syncs. Without Go there is no API server, so its parts are not required. */
function missingForBench(machine: Machine): readonly Missing[] {
  const programs = { "losetup": "mount", "mkfs.ext4": "e2fsprogs", "strace": "strace" };
  const missing: Missing[] = Object.entries(programs)
    .filter(([program]) => !machine.hasProgram(program))
    .map(([program, debianPackage]) => ({ what: program, debianPackage }));
  const hasGo = machine.hasProgram("go") || machine.hasFile("/usr/local/go/bin/go");
  return hasGo ? [...missing, ...missingForCluster(machine)] : missing;
}

export function installCommand(packages: readonly string[]): string {
  return `apt-get update && apt-get install -y --no-install-recommends ${packages.join(" ")}`;
}

/** Checks the prerequisites and installs packages where it may. Prints its actions; false if something is still missing. */
export function ensurePrerequisites(purpose: Purpose, machine: Machine = thisMachine()): boolean {
  const missing = missingFor(purpose, machine);
  if (missing.length === 0) return true;
  console.log(`Not on this machine yet:\n${missing.map(({ what }) => `  - ${what}`).join("\n")}`);
  const packages = missing.flatMap(({ debianPackage }) => debianPackage ?? []);
  const canInstall =
    machine.isRoot && machine.hasProgram("apt-get") && missing.every((item) => item.debianPackage !== undefined);
  if (!canInstall) {
    console.error(advice(missing, packages, machine));
    return false;
  }
  return install(packages) && isCompleteNow(purpose, machine);
}

export function advice(missing: readonly Missing[], packages: readonly string[], machine: Machine): string {
  const lines = packages.length === 0 ? [] : [`On Debian or Ubuntu, as root: ${installCommand(packages)}`];
  if (packages.length > 0 && !machine.hasProgram("apt-get"))
    lines.push("Elsewhere: install the same with your distribution's tools.");
  if (missing.some(({ what }) => what.startsWith("root"))) lines.push("Then run the command again as root.");
  return lines.join("\n");
}

function install(packages: readonly string[]): boolean {
  console.log(`Installing: ${installCommand(packages)}`);
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  const steps = [
    ["update", "-qq"],
    ["install", "-y", "-qq", "--no-install-recommends", ...packages],
  ];
  for (const args of steps) {
    const { status } = spawnSync("apt-get", args, { env, stdio: ["ignore", "inherit", "inherit"] });
    if (status !== 0) {
      console.error(`apt-get ${args[0]} failed with ${status ?? "a signal"}; run by hand: ${installCommand(packages)}`);
      return false;
    }
  }
  return true;
}

function isCompleteNow(purpose: Purpose, machine: Machine): boolean {
  const still = missingFor(purpose, machine);
  for (const { what } of still) console.error(`Still missing after the installation: ${what}`);
  return still.length === 0;
}

export function thisMachine(): Machine {
  const folders = (process.env["PATH"] ?? "").split(delimiter).filter((folder) => folder !== "");
  return {
    platform: process.platform,
    isRoot: process.getuid?.() === 0,
    // A user's PATH may lack the sbin folders where some distributions keep `ip`.
    hasProgram: (name) => [...folders, "/usr/sbin", "/sbin"].some((folder) => isExecutable(join(folder, name))),
    hasFile: existsSync,
  };
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

if (import.meta.main) {
  const purpose = purposes.find((name) => process.argv[2] === "--for" && process.argv[3] === name);
  if (purpose === undefined) {
    console.error(`Usage: bun scripts/prerequisites.ts --for ${purposes.join("|")}`);
    process.exit(2);
  }
  process.exit(ensurePrerequisites(purpose) ? 0 : 1);
}
