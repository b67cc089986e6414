import { LeveeError, toLeveeError } from "../../base/errors.ts";
import { brokenNetwork, judgeNetwork, type HostFacts, type NetworkReadiness } from "../../readiness/network-rules.ts";
import { needsOfConf, needsOfText, type Needs } from "./network-needs.ts";
import type { NetworkConf } from "../../cni/network-conf.ts";
import type { NetworkDefinition } from "../../view/network-definition.ts";

/** Networks with equal needs share one verdict, since thousands of definitions differ only in their addresses. */
interface Group {
  readonly needs: Needs;
  /** Why the configuration is unusable; empty when it is usable. */
  readonly broken: string;
  verdict: Pick<NetworkReadiness, "state" | "reasons">;
}

interface Entry {
  readonly uid: string;
  readonly config: string | undefined;
  readonly group: Group;
}

/** What every network needs from this host, read once per configuration, and the last verdict about it. */
export class NetworkBook {
  #entries = new Map<string, Entry>();
  #groups = new Map<string, Group>();

  /** Whether this version of the definition was read. One without a configuration is in a file, so it is read each time. */
  knows(key: string, { config, uid = "" }: NetworkDefinition): boolean {
    const entry = this.#entries.get(key);
    return entry !== undefined && config !== undefined && entry.config === config && entry.uid === uid;
  }

  /** `file` is the configuration of a definition that has none of its own. */
  enter(key: string, definition: NetworkDefinition, file?: NetworkConf): void {
    const { config, uid = "", name } = definition;
    const what = `NetworkAttachmentDefinition ${key}`;
    const group = this.#grouped(() => {
      if (file !== undefined) return needsOfConf(file);
      if (config !== undefined) return needsOfText(config, { what, defaultName: name });
      throw new LeveeError("network-unknown", "it has no spec.config, and no file in confDir has its name");
    });
    this.#entries.set(key, { uid, config, group });
  }

  /** Enters the primary network, which has no definition. */
  enterConf(key: string, read: () => NetworkConf): void {
    const group = this.#grouped(() => needsOfConf(read()));
    this.#entries.set(key, { uid: "", config: undefined, group });
  }

  /** Forgets all other networks, and groups without a network. */
  keepOnly(keys: ReadonlySet<string>): void {
    for (const key of this.#entries.keys()) if (!keys.has(key)) this.#entries.delete(key);
    const used = new Set([...this.#entries.values()].map(({ group }) => group));
    for (const [key, group] of this.#groups) if (!used.has(group)) this.#groups.delete(key);
  }

  programs(): readonly string[] {
    const groups = [...this.#groups.values()];
    return [...new Set(groups.flatMap(({ needs }) => needs.flatMap(({ programs }) => programs)))];
  }

  /** Bridges that need an uplink. */
  bridges(): readonly string[] {
    const links = [...this.#groups.values()].flatMap(({ needs }) => needs.flatMap((plugin) => plugin.links));
    return [...new Set(links.filter(({ role }) => role === "bridge").map(({ name }) => name))];
  }

  /** Bridges that must filter VLANs. */
  vlanBridges(): readonly string[] {
    const groups = [...this.#groups.values()];
    return [...new Set(groups.flatMap(({ needs }) => needs.flatMap(({ vlanBridges = [] }) => vlanBridges)))];
  }

  /** Sockets of the daemons that plugins need. */
  sockets(): readonly string[] {
    const groups = [...this.#groups.values()];
    return [...new Set(groups.flatMap(({ needs }) => needs.flatMap(({ daemon }) => daemon?.socket ?? [])))];
  }

  judge(host: HostFacts): void {
    for (const group of this.#groups.values()) group.verdict = verdictOf(group, host);
  }

  *all(): Iterable<NetworkReadiness & { readonly uid: string }> {
    for (const [network, { uid, group }] of this.#entries) yield { network, uid, ...group.verdict };
  }

  #grouped(read: () => Needs): Group {
    let needs: Needs = [];
    let broken = "";
    try {
      needs = read();
    } catch (thrown) {
      broken = toLeveeError(thrown, "Cannot read the configuration").message.slice(0, reasonCharsMax);
    }
    const key = broken === "" ? JSON.stringify(needs) : broken;
    const known = this.#groups.get(key);
    if (known !== undefined) return known;
    const group: Group = { needs, broken, verdict: { state: "unknown", reasons: [] } };
    group.verdict = verdictOf(group, unseenHost);
    this.#groups.set(key, group);
    return group;
  }
}

/** An error may quote the configuration. */
const reasonCharsMax = 300;
/** Before the first look nothing is known. */
export const unseenHost: HostFacts = {
  hasProgram: () => undefined,
  hasLink: () => undefined,
  hasFile: () => undefined,
  hasUplink: () => undefined,
  filtersVlans: () => undefined,
};

function verdictOf({ needs, broken }: Group, host: HostFacts): Pick<NetworkReadiness, "state" | "reasons"> {
  const { state, reasons } = broken === "" ? judgeNetwork("", needs, host) : brokenNetwork("", broken);
  return { state, reasons };
}
