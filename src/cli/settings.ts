import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { usageFailure } from "./failure.ts";
import { outputFormats, type OutputFormat } from "./terminal/print.ts";
import type { Shell } from "./shell.ts";

/** Folders, programs and the output format: from the global options, else LEVEE_ variables, else the defaults of a node. */
export interface Settings {
  readonly output: OutputFormat;
  readonly socketDir: string;
  readonly stateDir: string;
  readonly directory: string;
  readonly shim: string;
  readonly cniPath: string;
}

/** The options as given on the command line. */
export interface GivenOptions {
  readonly output?: string;
  readonly socketDir?: string;
  readonly stateDir?: string;
  readonly directory?: string;
  readonly shim?: string;
  readonly cniPath?: string;
}

const settingDefaults = { socketDir: "/run/levee", stateDir: "/var/lib/levee" } as const;
const pluginFolders = ["/opt/cni/bin", "/usr/lib/cni"] as const;

export function readSettings(
  given: GivenOptions,
  shell: Pick<Shell, "env" | "self">,
  formats: readonly OutputFormat[] = outputFormats,
): Settings {
  const choose = (option: string | undefined, name: string, otherwise: () => string): string =>
    option ?? variable(shell, name) ?? otherwise();
  const stateDir = choose(given.stateDir, "LEVEE_STATE_DIR", () => settingDefaults.stateDir);
  const socketDir = choose(given.socketDir, "LEVEE_SOCKET_DIR", () => settingDefaults.socketDir);
  const directory = choose(given.directory, "LEVEE_DIRECTORY", () => join(stateDir, "directory"));
  if (given.cniPath === "")
    throw usageFailure("Cannot look for plugins: --cni-path is empty", "--cni-path /opt/cni/bin, or leave it out");
  const cniPath = choose(given.cniPath, "LEVEE_CNI_PATH", () => existing(pluginFolders).join(":"));
  return {
    output: readOutput(given.output, formats),
    socketDir: folder("--socket-dir", socketDir),
    stateDir: folder("--state-dir", stateDir),
    directory: folder("--directory", directory),
    shim: choose(given.shim, "LEVEE_SHIM", () => findShim(shell, cniPath)),
    cniPath,
  };
}

export function socketPath(settings: Pick<Settings, "socketDir">): string {
  return join(settings.socketDir, "levee.sock");
}

/** An empty variable counts as unset. */
function variable(shell: Pick<Shell, "env">, name: string): string | undefined {
  const value = shell.env[name];
  return value === undefined || value === "" ? undefined : value;
}

function readOutput(given: string | undefined, formats: readonly OutputFormat[]): OutputFormat {
  const format = formats.find((known) => known === (given ?? "table"));
  if (format === undefined) {
    throw usageFailure(
      `Cannot print as ${JSON.stringify(given)}: the output must be one of ${formats.join(", ")}`,
      "-o table",
    );
  }
  return format;
}

/** Other processes read these paths from another working folder, so they must be absolute. */
function folder(option: string, path: string): string {
  if (!path.startsWith("/"))
    throw usageFailure(
      `Cannot use ${option} as it must be an absolute path: current value is ${JSON.stringify(path)}`,
      `${option} "$PWD/${path}"`,
    );
  return path;
}

/** The shim beside this program, else the one in the plugin folders. */
function findShim(shell: Pick<Shell, "self">, cniPath: string): string {
  const beside = join(dirname(shell.self[0]), "levee-shim");
  const candidates = [
    beside,
    ...cniPath
      .split(":")
      .filter((path) => path !== "")
      .map((path) => join(path, "levee-shim")),
  ];
  return existing(candidates)[0] ?? beside;
}

function existing(paths: readonly string[]): readonly string[] {
  return paths.filter((path) => existsSync(path));
}
