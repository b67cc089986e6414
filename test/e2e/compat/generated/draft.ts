import type { Random } from "../../../hostile/random.ts";
import type { Definition, GeneratedCase } from "./generated-case.ts";

export const networksNamespace = "nets";
export const recorders = ["rec-a", "rec-b", "rec-c", "rec-d"] as const;
export type Recorder = (typeof recorders)[number];
export const versions = ["0.3.1", "0.4.0", "1.0.0", "1.1.0"] as const;

/** A case under way. What a kind does not make odd stays plain: one network by `rec-a`, a pod in `default`. */
export class Draft {
  readonly random: Random;
  readonly id: string;
  readonly annotations: Record<string, string> = {};
  readonly files: Record<string, string> = {};
  readonly definitions: Definition[] = [];
  namespace = "default";
  conf: Record<string, unknown>;

  /** `letter` tells cases of one seed apart. */
  constructor(random: Random, letter = "") {
    this.random = random;
    this.id = letter + random.seed.toString(36);
    this.conf = { delegates: [{ cniVersion: "1.0.0", name: this.name("main"), type: "rec-a" }] };
    for (const plugin of recorders) this.answers(plugin, plainResult());
  }

  /** A name that no other case has. */
  name(word: string): string {
    return `${word}-${this.id}`;
  }

  /** Defines a network by a configuration, or by a text that need not be one; gives its name. */
  define(word: string, config: object | string | undefined, namespace = networksNamespace): string {
    const name = this.name(word);
    const text = typeof config === "object" ? JSON.stringify(config) : config;
    this.definitions.push({ name, namespace, ...(text === undefined ? {} : { config: text }) });
    return name;
  }

  /** Has a recording plugin print this on ADD. */
  answers(plugin: Recorder, result: object | string): void {
    this.files[`${plugin}.ADD`] = printing(typeof result === "string" ? result : JSON.stringify(result));
  }

  /** True so often. */
  chance(share: number): boolean {
    return this.random.next() < share;
  }

  finish(kind: string): GeneratedCase {
    const { id, namespace, annotations, conf, definitions, files } = this;
    return { id, seed: this.random.seed, kind, namespace, annotations, conf, definitions, files };
  }
}

/** What a plugin that works prints; IFNAME and NETNS are the call's. */
export function plainResult(cniVersion = "1.0.0"): Record<string, unknown> {
  const isOld = cniVersion < "1.0.0";
  return {
    cniVersion,
    interfaces: [{ name: "IFNAME", mac: "02:00:00:00:00:01", sandbox: "NETNS" }],
    ips: [{ ...(isOld ? { version: "4" } : {}), address: "10.9.0.2/24", gateway: "10.9.0.1", interface: 0 }],
  };
}

/** Shell lines that print a text in which IFNAME and NETNS are the call's. */
export function printing(text: string): string {
  const quoted = text
    .replaceAll("'", String.raw`'\''`)
    .replaceAll("IFNAME", `'"$CNI_IFNAME"'`)
    .replaceAll("NETNS", `'"$CNI_NETNS"'`);
  return `printf '%s' '${quoted}'\n`;
}
