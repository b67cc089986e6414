import { uplinkAnnotation, uplinkVlanAnnotation } from "../../base/annotations.ts";
import { LeveeError, toLeveeError } from "../../base/errors.ts";
import {
  brokenNetwork,
  judgeNetwork,
  withDoubts,
  type HostFacts,
  type NetworkReadiness,
} from "../../readiness/network-rules.ts";
import type { BridgeNeed } from "../../readiness/uplink-rules.ts";
import { needsOfConf, needsOfText, type Needs } from "./network-needs.ts";
import { uplinkWish } from "./uplink-wish.ts";
import { definitionMark } from "../../wire/network-question.ts";
import type { NetworkConf } from "../../cni/network-conf.ts";
import type { NetworkDefinition } from "../../view/network-definition.ts";

/** Networks with equal needs share one verdict, since thousands of definitions differ only in their addresses. */
interface Group {
  readonly needs: Needs;
  /** Why the configuration is unusable; empty when it is usable. */
  readonly broken: string;
  verdict: Verdict;
}

type Verdict = Omit<NetworkReadiness, "network">;

/** It stays the same object until the definition changes. */
export interface NetworkText {
  readonly network: string;
  readonly annotations: NetworkDefinition["annotations"];
  /** The configuration, also of a definition that has it in a file. */
  readonly text: string | undefined;
}

interface Entry extends NetworkText {
  readonly uid: string;
  readonly config: string | undefined;
  readonly group: Group;
}

type Doubts = ReadonlyMap<string, readonly string[]>;

/** What every network needs from this host, read once per configuration, and the last verdict about it. */
export class NetworkBook {
  readonly #isGated: boolean;
  #entries = new Map<string, Entry>();
  #groups = new Map<string, Group>();
  #doubts: Doubts = new Map();

  constructor(isGated: boolean) {
    this.#isGated = isGated;
  }

  /** Whether this version of the definition was read. One without a configuration is in a file, so it is read each time. */
  knows(key: string, { config, annotations, uid = "" }: NetworkDefinition): boolean {
    const entry = this.#entries.get(key);
    if (entry === undefined || config === undefined || entry.config !== config || entry.uid !== uid) return false;
    return [uplinkAnnotation, uplinkVlanAnnotation].every((name) => entry.annotations[name] === annotations[name]);
  }

  /** `file` is the configuration of a definition that has none of its own. */
  enter(key: string, definition: NetworkDefinition, file?: NetworkConf): void {
    const { config, annotations, uid = "", name } = definition;
    const what = `NetworkAttachmentDefinition ${key}`;
    const group = this.#grouped(() => {
      const uplink = uplinkWish(annotations, this.#isGated);
      if (file !== undefined) return needsOfConf(file, uplink);
      if (config !== undefined) return needsOfText(config, { what, defaultName: name }, uplink);
      throw new LeveeError("network-unknown", "it has no spec.config, and no file in confDir has its name");
    });
    this.#entries.set(key, { network: key, uid, config, annotations, group, text: file?.text ?? config });
  }

  /** Enters the primary network, which has no definition. */
  enterConf(key: string, read: () => NetworkConf): void {
    // The gate leaves the primary network alone, so a lack of its bridge is a doubt.
    const group = this.#grouped(() => needsOfConf(read(), { isOpen: true }));
    this.#entries.set(key, { network: key, uid: "", config: undefined, annotations: {}, group, text: undefined });
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

  /** Interfaces on which plugins put others. */
  masters(): readonly string[] {
    const links = [...this.#groups.values()].flatMap(({ needs }) => needs.flatMap((plugin) => plugin.links));
    return [...new Set(links.filter(({ role }) => role === "master").map(({ name }) => name))];
  }

  /** Bridges that need an uplink. */
  bridges(): readonly string[] {
    return [...new Set(this.#bridgeNeeds().map(({ bridge }) => bridge))];
  }

  /** Ports that definitions name as uplinks. */
  namedUplinks(): ReadonlySet<string> {
    return new Set(this.#bridgeNeeds().flatMap(({ uplink }) => uplink ?? []));
  }

  /** Whether some network says of which VLAN its uplink must be. */
  wantsVlans(): boolean {
    return this.#bridgeNeeds().some(({ vlan }) => vlan !== undefined);
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

  /** What is known about one network; undefined for one that was not read yet. */
  of(network: string): { readonly needs: Needs; readonly verdict: Verdict } | undefined {
    const entry = this.#entries.get(network);
    return entry === undefined ? undefined : { needs: entry.group.needs, verdict: this.#verdictOf(entry) };
  }

  /** Which version of its definition a verdict is about; undefined for a network that was not read yet. */
  markOf(network: string): string | undefined {
    const entry = this.#entries.get(network);
    if (entry === undefined) return undefined;
    return definitionMark(
      entry.config,
      [uplinkAnnotation, uplinkVlanAnnotation].map((name) => entry.annotations[name]),
    );
  }

  /** Networks whose configuration is such a text. */
  withText(isSuch: (text: string) => boolean): readonly NetworkText[] {
    return [...this.#entries.values()].filter(({ text }) => text !== undefined && isSuch(text));
  }

  /** `doubts` has reasons by network. */
  judge(host: HostFacts, doubts: Doubts): void {
    this.#doubts = doubts;
    for (const group of this.#groups.values()) group.verdict = verdictOf(group, host);
  }

  *all(): Iterable<NetworkReadiness & { readonly uid: string }> {
    for (const [network, entry] of this.#entries) yield { network, uid: entry.uid, ...this.#verdictOf(entry) };
  }

  #verdictOf({ network, group }: Entry): Verdict {
    return withDoubts(group.verdict, this.#doubts.get(network) ?? []);
  }

  #bridgeNeeds(): readonly BridgeNeed[] {
    return [...this.#groups.values()].flatMap(({ needs }) => needs.flatMap(({ bridge }) => bridge ?? []));
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
  program: () => undefined,
  link: () => undefined,
  hasFile: () => undefined,
  uplinks: () => undefined,
  filtersVlans: () => undefined,
};

function verdictOf({ needs, broken }: Group, host: HostFacts): Verdict {
  const { network: _, ...verdict } = broken === "" ? judgeNetwork("", needs, host) : brokenNetwork("", broken);
  return verdict;
}
