import { lstatSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { World } from "./world.ts";

/** What can be seen of a world: links, addresses, routes, neighbours, VLANs and sysctls of both namespaces, and files. */
export interface Snapshot {
  readonly host: readonly string[];
  readonly box: readonly string[];
  readonly files: readonly string[];
}

/** Kernel's own clocks, and what it sets when it gets to it. */
const passingKeys = new Set([
  "operstate",
  "carrier",
  "tentative",
  "valid_life_time",
  "preferred_life_time",
  "bridge_id",
  "root_id",
  "designated_root",
  "designated_bridge",
  "state",
  "link_netnsid",
]);
const passingFlags = new Set(["LOWER_UP", "NO-CARRIER", "linkdown"]);
const border = "====";
const sysctlFolders = "/proc/sys/net/ipv4/conf /proc/sys/net/ipv6/conf /proc/sys/net/ipv4/ip_forward";
/** An address on a link that does not work never settles. */
const looksMax = 8;
const settleMs = 40;

export async function snapshot(world: World): Promise<Snapshot> {
  if (world.isOnlyFiles) return { host: [], box: [], files: filesBelow(world.folder) };
  const look = [world.host, world.box].map(looksAt).join(`\necho ${border}\n`);
  let text = await world.shell(look);
  // The kernel makes the routes of an IPv6 address when it has settled it, soon after the link works.
  for (let looks = 1; looks < looksMax && text.includes('"tentative":true'); looks += 1) {
    await Bun.sleep(settleMs);
    text = await world.shell(look);
  }
  const [host, box] = text.split(`${border}\n`).map(seen);
  return { host: host ?? [], box: box ?? [], files: filesBelow(world.folder) };
}

/** Few processes, because an emulated machine needs long to start one. */
function looksAt(netns: string): string {
  return [
    `ip -n ${netns} -j -d -batch - <<END`,
    "addr show",
    "route show table all",
    "neigh show",
    "END",
    `ip -n ${netns} -6 -j route show table all`,
    `bridge -n ${netns} -j vlan`,
    `nsenter --net=/run/netns/${netns} grep -rs . ${sysctlFolders} || true`,
  ].join("\n");
}

/** Each program says its JSON in one line; the other lines are sysctls. */
function seen(text: string): readonly string[] {
  const lines = text.split("\n").filter((line) => line !== "");
  const objects = lines.filter((line) => line.startsWith("[")).flatMap((line) => JSON.parse(line) as unknown[]);
  const sysctls = lines.filter((line) => !line.startsWith("["));
  return [...objects.filter((object) => !isOfKernel(object)).flatMap((object) => linesOf(lasting(object))), ...sysctls];
}

/** A line for each fact about a link, so that a difference is easy to read; one for anything else. */
function linesOf(object: unknown): readonly string[] {
  const { ifname, ...facts } = object as { readonly ifname?: string };
  if (ifname === undefined) return [JSON.stringify(object)];
  return leaves(facts, "").map((leaf) => `${ifname} ${leaf}`);
}

function leaves(value: unknown, path: string): readonly string[] {
  if (typeof value !== "object" || value === null || path.endsWith(".flags"))
    return [`${path}=${JSON.stringify(value)}`];
  return Object.entries(value).flatMap(([key, inner]) => leaves(inner, `${path}.${key}`));
}

/** The kernel adds link-local routes and addresses when it gets to it. */
function isOfKernel(object: unknown): boolean {
  const dst = (object as { readonly dst?: string }).dst ?? "";
  return dst.startsWith("fe80:") || dst.startsWith("ff00:");
}

function lasting(value: unknown): unknown {
  if (Array.isArray(value))
    return value
      .filter((item) => !(typeof item === "string" && passingFlags.has(item)))
      .filter((item) => !((item as { local?: string } | null)?.local ?? "").startsWith("fe80:"))
      .map(lasting);
  if (typeof value !== "object" || value === null) return value;
  const kept = Object.entries(value).filter(([key]) => !passingKeys.has(key) && !key.endsWith("_timer"));
  return Object.fromEntries(kept.map(([key, inner]) => [key, lasting(inner)]));
}

function filesBelow(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .toSorted()
    .map((name) => {
      const path = join(folder, name);
      const facts = lstatSync(path);
      const content = facts.isFile() ? JSON.stringify(readFileSync(path, "latin1")) : "";
      return `${name} ${facts.mode.toString(8)} ${content}`;
    });
}

/** Replaces what is random by the order in which it is first seen: names of pairs, MAC addresses, numbers of links. */
export class Names {
  readonly #seen = new Map<string, string>();
  readonly #counts = new Map<string, number>();
  readonly #given: string;

  /** What is in the configuration is not random. */
  constructor(given: string) {
    this.#given = given;
  }

  plain(text: string): string {
    return (
      text
        .replaceAll(/veth[0-9a-f]{8}/g, (name) => this.#number("veth", name))
        .replaceAll(/\b(?:[0-9a-f]{2}:){5}[0-9a-f]{2}\b/g, (mac) => this.#number("mac", mac))
        .replaceAll(
          /\.(ifindex|link_index)=(\d+)/g,
          (_, key: string, index: string) => `.${key}=${this.#number("link", `${key} ${index}`)}`,
        )
        // Go prints a place in its memory in these.
        .replaceAll(/Interface:(?:0x[0-9a-f]+|\d+)/g, "Interface:#")
        // Older editions look for a sysctl of IFNAME itself, and take several in any order.
        .replaceAll(/\/IFNAME\/\w+: no such file/g, "/IFNAME/#: no such file")
        .replaceAll(/(configured (?:Transmit Queue Length|all-multicast mode) of \S+ is )[^,]+/g, "$1#")
    );
  }

  #number(kind: string, name: string): string {
    if (this.#given.includes(name) || name === "00:00:00:00:00:00" || name === "ff:ff:ff:ff:ff:ff") return name;
    const known = this.#seen.get(name);
    if (known !== undefined) return known;
    const count = this.#counts.get(kind) ?? 0;
    this.#counts.set(kind, count + 1);
    this.#seen.set(name, `${kind}#${count}`);
    return `${kind}#${count}`;
  }

  plainSnapshot(of: Snapshot): readonly string[] {
    const lines = (from: readonly string[], place: string): readonly string[] =>
      from.map((line) => `${place}: ${this.plain(line)}`);
    return [...lines(of.host, "host").toSorted(), ...lines(of.box, "box").toSorted(), ...lines(of.files, "file")];
  }
}
