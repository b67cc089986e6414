import type { Logger } from "../base/log.ts";
import {
  builtinIpams,
  comparedVersions,
  isBuiltinPlugin,
  type BuiltinChoice,
  type BuiltinPlugin,
} from "../cni/builtin/builtin-plugins.ts";
import { upstreamVersion } from "../cni/builtin/upstream-program.ts";
import type { RunOrder } from "../wire/messages.ts";
import type { Outcome } from "../wire/outcome.ts";
import type { PluginAttendant } from "./plugin-attendant.ts";

/** A program that a hand has described, and what the daemon made of it. */
export interface JudgedProgram {
  readonly name: BuiltinPlugin;
  /** The upstream version that it is; undefined for another program, which runs itself. */
  readonly version: string | undefined;
}

/** A rollout replaces a program a few times; an older file does not come back. */
const filesKept = 4;

/**
 * Decides where a built-in plugin stands in for a program. A hand describes each program file once, and every order carries
 * the verdicts, so no order needs a second one.
 */
export class StandIns implements PluginAttendant {
  readonly #choice: BuiltinChoice;
  readonly #logger: Pick<Logger, "info">;
  /** By name, then by the identity of the file. */
  readonly #judged = new Map<BuiltinPlugin, Map<string, string | undefined>>();
  /** Plugins that hands found no program of at the last look. */
  readonly #absent = new Set<BuiltinPlugin>();
  /** The words of an order, by its plugin. */
  readonly #words = new Map<string, readonly string[]>();

  constructor(choice: BuiltinChoice, logger: Pick<Logger, "info">) {
    this.#choice = choice;
    this.#logger = logger;
  }

  get choice(): BuiltinChoice {
    return this.#choice;
  }

  /** The order with a word on each program that it may need. */
  begin(order: RunOrder): RunOrder {
    if (this.#choice === "off" || !isBuiltinPlugin(order.plugin)) return order;
    const key = `${order.plugin} ${order.asksProgram === true ? "program" : ""}`;
    let words = this.#words.get(key);
    if (words === undefined) this.#words.set(key, (words = this.#wordsFor(order.plugin, order.asksProgram === true)));
    return { ...order, builtins: words };
  }

  /** Judges programs that the hand came across for the first time, and learns which are not there. */
  end(outcome: Outcome, { plugin }: Pick<RunOrder, "plugin">): void {
    for (const text of outcome.programs) {
      const [, name = "", identity = "", marks = ""] = described.exec(text) ?? [];
      if (isBuiltinPlugin(name)) this.#judge(name, identity, upstreamVersion(name, marks));
    }
    if (this.#choice === "auto" && isBuiltinPlugin(plugin)) this.#seeAbsence(plugin, outcome);
  }

  /** A built-in that no known file of the name explains stood in for a missing one. */
  #seeAbsence(plugin: BuiltinPlugin, { builtIn, notBuiltIn }: Outcome): void {
    if (builtIn === undefined && notBuiltIn === undefined) {
      this.#absent.delete(plugin);
      return;
    }
    const known = this.#versionsOf(plugin);
    if (builtIn !== undefined && known.includes(builtIn)) this.#absent.delete(plugin);
    else if (builtIn !== undefined || known.length === 0) this.#absent.add(plugin);
    // Where a plugin may be built in, the hand has looked for the address plugins too.
    for (const name of builtinIpams) if (!this.#judged.has(name)) this.#absent.add(name);
  }

  #versionsOf(name: BuiltinPlugin): readonly (string | undefined)[] {
    return [...(this.#judged.get(name)?.values() ?? [])];
  }

  #judge(name: BuiltinPlugin, identity: string, version: string | undefined): void {
    const known = this.#judged.get(name) ?? new Map<string, string | undefined>();
    known.delete(identity);
    known.set(identity, version);
    for (const old of [...known.keys()].slice(0, -filesKept)) known.delete(old);
    this.#judged.set(name, known);
    this.#absent.delete(name);
    this.#words.clear();
    if (version === undefined)
      this.#logger.info("A plugin runs as a program: it is not a known upstream one", { plugin: name });
    else this.#logger.info("A built-in plugin stands in for the upstream program", { plugin: name, version });
  }

  /** The newest program of each name, sorted. */
  judged(): readonly JudgedProgram[] {
    return [...this.#judged]
      .filter(([name]) => !this.#absent.has(name))
      .map(([name, files]) => ({ name, version: [...files.values()].at(-1) }))
      .toSorted((left, right) => (left.name < right.name ? -1 : 1));
  }

  /** Plugins without a program, sorted: their built-ins serve. */
  absent(): readonly BuiltinPlugin[] {
    return [...this.#absent].toSorted();
  }

  #wordsFor(plugin: BuiltinPlugin, asksProgram: boolean): readonly string[] {
    const names = [...new Set<BuiltinPlugin>([plugin, ...builtinIpams])];
    return names.flatMap((name) => this.#wordsOn(name, asksProgram));
  }

  #wordsOn(name: BuiltinPlugin, asksProgram: boolean): readonly string[] {
    const [newest] = comparedVersions;
    if (this.#choice !== "auto") {
      if (!this.#choice.includes(name)) return [];
      return [`${name} ${asksProgram ? "absent" : "any"} ${newest}`];
    }
    const files = [...(this.#judged.get(name) ?? [])];
    return [
      ...files.map(([identity, version]) => `${name} ${identity} ${asksProgram ? "-" : (version ?? "-")}`),
      `${name} absent ${newest}`,
    ];
  }
}

/** Name and identity, then the marks of the file. */
const described = /^(\S+) (\d+:\d+:\d+:-?\d+)\n([^]*)$/u;
