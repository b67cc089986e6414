import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { errnoOf } from "../../base/errors.ts";
import { CommandFailure } from "../failure.ts";

/** A CNI configuration of the site, given with --delegate. */
export interface SiteConf {
  readonly path: string;
  readonly content: string;
  /** The plugins it runs, including IPAM. */
  readonly plugins: readonly string[];
  /** The folders in which host-local books addresses. */
  readonly leases: readonly string[];
}

/** host-local's own default. */
const leasesDefault = "/var/lib/cni/networks";

export async function readSiteConf(given: string): Promise<SiteConf> {
  const path = resolve(given);
  const content = await readFile(path, "utf8").catch((cause: unknown) => {
    throw new CommandFailure(errnoOf(cause) ?? "io-failed", `Cannot read the configuration ${path}`, {
      remedy: "--delegate FILE with a CNI conf or conflist",
      cause,
    });
  });
  return { path, content, ...parseSiteConf(content, path) };
}

export function parseSiteConf(content: string, path: string): Pick<SiteConf, "plugins" | "leases"> {
  const value = parsed(content, path);
  const name = text(value, "name");
  const list = member(value, "plugins");
  const confs: readonly unknown[] = Array.isArray(list) ? list : [value];
  const plugins = confs.flatMap((conf) => [text(conf, "type"), text(member(conf, "ipam"), "type")]).filter(Boolean);
  if (name === "" || plugins.length === 0) throw noConf(path, "it has no name or no type");
  const leases = confs
    .map((conf) => member(conf, "ipam"))
    .filter((ipam) => text(ipam, "type") === "host-local")
    .map((ipam) => join(text(ipam, "dataDir") || leasesDefault, name));
  return { plugins: [...new Set(plugins)], leases: [...new Set(leases)] };
}

/** Throws if a plugin is in none of the folders. */
export function requirePlugins(plugins: readonly string[], cniPath: string): void {
  const folders = cniPath.split(":").filter((folder) => folder !== "");
  const missing = plugins.find((plugin) => !folders.some((folder) => existsSync(join(folder, plugin))));
  if (missing === undefined) return;
  throw new CommandFailure(
    "plugins-missing",
    `Cannot find the plugin ${missing} in ${folders.join(", ") || "/opt/cni/bin, /usr/lib/cni"}`,
    { remedy: "apt-get install containernetworking-plugins, or name their folder with --plugins" },
  );
}

/** The plugins of our own two networks. */
export const ownPlugins = ["bridge", "host-local"] as const;

function parsed(content: string, path: string): unknown {
  try {
    return JSON.parse(content) as unknown;
  } catch (cause) {
    throw noConf(path, cause instanceof Error ? cause.message : String(cause));
  }
}

function noConf(path: string, reason: string): CommandFailure {
  return new CommandFailure("usage", `Cannot use ${path} as a CNI configuration: ${reason}`, {
    remedy: "--delegate FILE with a CNI conf or conflist",
    exitCode: 2,
  });
}

function member(from: unknown, key: string): unknown {
  if (typeof from !== "object" || from === null) return undefined;
  return Object.entries(from).find(([name]) => name === key)?.[1];
}

function text(from: unknown, key: string): string {
  const value = member(from, key);
  return typeof value === "string" ? value : "";
}
