import { isComparedPlugin, type BuiltinPlugin, type ComparedPlugin, type ComparedVersion } from "./builtin-plugins.ts";

const module = "github.com/containernetworking/plugins";
const versionVariable = `${module}/pkg/utils/buildversion.BuildVersion`;

/** The hash of each version's module, as `go.sum` names it. It covers every file of the source. */
const modules: Readonly<Record<ComparedVersion, string>> = {
  "1.9.1": "h1:8oU6WsIsU3bpnNZuvHp74a6cE1MJwbj2P7s4/yTUNlA=",
  "1.1.1": "h1:+AGfFigZ5TiQH00vhR8qPeSatj53eNGz0C1d3wVYlHE=",
};

/**
 * Debian 12 builds 1.1.1 without modules, so its programs name no version. The last part of a Go build ID is a hash of the
 * linked program, and these are the ones of 1.1.1+ds1-3+b5 for amd64 and arm64.
 */
const debian: Readonly<Record<ComparedPlugin, readonly string[]>> = {
  "bridge": ["Qngu0Sr54mMMFfM6i5ht", "i_DXc7vC96zr0hL671sv"],
  "host-device": ["bs4vEvLz4FNVsXhqkUjk", "EN6lvwh-lKBG90x5SKrD"],
  "host-local": ["JrBT-X34_8RHTjCI6Oxj", "Gzpqk7Q-N5x_PEQs4ow3"],
  "loopback": ["_Bx_1PMUyfZxwED3_Kvx", "n0S8TU8j7U0RRVvvgOHn"],
  "macvlan": ["PN7NNqDdeFDV0AbMr30p", "H0tn2luXioKCfSG4-2kE"],
  "ptp": ["0AVTKPB1jFzErKyszvQa", "V1-aFIpJ5J3OzuxW6afD"],
  "static": ["fwaX4a5KqPeiSwy1T8Kp", "mkFUUjh4HvVqkKFiM4D5"],
  "tuning": ["sBoHpmttvn924wLU-OFc", "DcOkjrF-Qzykhpyb16LJ"],
};

const folders: Readonly<Record<ComparedPlugin, "ipam" | "main" | "meta">> = {
  "bridge": "main",
  "host-device": "main",
  "host-local": "ipam",
  "loopback": "main",
  "macvlan": "main",
  "ptp": "main",
  "static": "ipam",
  "tuning": "meta",
};

/**
 * The version of which a program is the upstream one that its built-in was compared with, by what the Go linker wrote into it; undefined for every
 * other program. A site's own plugin must never be taken for upstream's, so anything unusual says no.
 */
export function upstreamVersion(name: BuiltinPlugin, marks: string): ComparedVersion | undefined {
  return isComparedPlugin(name) ? versionByMarks(name, marks) : undefined;
}

function versionByMarks(name: ComparedPlugin, marks: string): ComparedVersion | undefined {
  const lines = marks.split("\n").map((line) => line.split("\t"));
  const first = (key: string): readonly string[] => lines.find(([found]) => found === key)?.slice(1) ?? [];
  if (first("path")[0] !== `${module}/plugins/${folders[name]}/${name}`) return undefined;
  // A replaced module is code of somebody else.
  if (lines.some(([key]) => key === "=>")) return undefined;
  const [origin, version = "", sum = ""] = first("mod");
  if (origin === undefined) return debian[name].includes(linkHash(first("id")[0] ?? "")) ? "1.1.1" : undefined;
  if (origin !== module) return undefined;
  const settings = lines.filter(([key]) => key === "build").map(([, setting = ""]) => setting);
  return sum === "" ? versionOfCheckout(version, settings) : versionOfModule(version, sum);
}

function linkHash(id: string): string {
  return id.slice(id.lastIndexOf("/") + 1);
}

/** Built from the module as the proxies serve it. */
function versionOfModule(version: string, sum: string): ComparedVersion | undefined {
  return versions.find((known) => version === `v${known}` && sum === modules[known]);
}

/**
 * Built from a checkout, as upstream's own releases are. They name their version by a linker flag; a build by hand names
 * none. Go adds the state of the checkout where git was at hand, and then it must be a clean one.
 */
function versionOfCheckout(version: string, settings: readonly string[]): ComparedVersion | undefined {
  if (settings.includes("vcs.modified=true")) return undefined;
  const flags = settings.find((setting) => setting.startsWith("-ldflags=")) ?? "";
  const named = flags.split(/[\s"']+/u).filter((word) => word.startsWith(`${versionVariable}=`));
  const claimed = named.length === 1 ? named[0]?.slice(versionVariable.length + 1) : undefined;
  return versions.find((known) => claimed === `v${known}` && (version === "(devel)" || version === `v${known}`));
}

const versions = Object.keys(modules) as readonly ComparedVersion[]; // the table's own keys
