import { roundedWaitMs, type NodeStorm, type StormClass, type StormMoment, type Tally } from "./node-storm.ts";
import { everyPod, type RecorderEntry } from "./recorder-entry.ts";
import type { StormLine } from "./storm-lines.ts";

/** `own`: only Levee's words and names, because a plugin's words may be a tenant's secret. */
export type RecorderWords = "own" | "all";

/** A call that left the line may take 110 s more. */
const afterMs = 120_000;
/** A tenant may make many namespaces and networks, and words without end. */
const namesMax = 50;
const keptNamesMax = 1_000;
const momentsMax = 30;

/** Counts one storm, from all entries in their order. */
export class StormCounter {
  readonly #line: StormLine;
  readonly #isOwn: boolean;
  readonly #attached = new Set<string>();
  readonly #held = new Set<string>();
  readonly #waits = new Map<number, number>();
  readonly #waitMsMax = new Map<string, number>();
  readonly #failures = new Map<string, number>();
  readonly #plugins = new Map<string, number>();
  readonly #moments: StormMoment[] = [];
  readonly #times = new Map<string, number>();
  #lineMax = 0;
  #lineMaxMs: number;
  #holdMsMax = 0;

  constructor(line: StormLine, words: RecorderWords) {
    this.#line = line;
    this.#isOwn = words === "own";
    this.#lineMaxMs = line.fromMs;
  }

  look(entry: RecorderEntry): void {
    const { fromMs, toMs, pods } = this.#line;
    if (entry.wallMs < fromMs || entry.wallMs > toMs + afterMs) return;
    if (entry.pod === everyPod) this.#lookAtMoment(entry);
    else if (pods.has(entry.pod)) this.#lookAtPod(entry);
  }

  end(): NodeStorm {
    const { fromMs, toMs, pods } = this.#line;
    const namespaces = new Map<string, number>();
    for (const pod of pods.keys()) add(namespaces, pod.slice(0, pod.indexOf("/")));
    const timesOf = (what: string): number => this.#times.get(what) ?? 0;
    return {
      ...{ fromMs, toMs, pods: pods.size, namespaces: tallyOf(namespaces) },
      ...{ lineMax: this.#lineMax, lineMaxMs: this.#lineMaxMs, classes: this.#classes() },
      waits: [...this.#waits].toSorted(([left], [right]) => left - right),
      ...{ attached: this.#attached.size, failures: tallyOf(this.#failures), plugins: tallyOf(this.#plugins) },
      ...{ held: this.#held.size, holdMsMax: this.#holdMsMax },
      ...{ oomKills: timesOf("oom-killed"), hung: timesOf("hung"), leaks: timesOf("leaked") },
      moments: this.#moments,
    };
  }

  #classes(): readonly StormClass[] {
    const pods = new Map<string, number>();
    for (const name of this.#line.pods.values()) add(pods, name);
    return tallyOf(pods).map(([name, times]) => ({ name, pods: times, waitMsMax: this.#waitMsMax.get(name) ?? 0 }));
  }

  #lookAtMoment({ wallMs, what, facts }: RecorderEntry): void {
    if (this.#moments.length >= momentsMax) return;
    const isNetwork = what.startsWith("network-");
    const detail = this.#isOwn && isNetwork ? (facts["network"] ?? "the default network") : (facts["detail"] ?? "");
    this.#moments.push({ atMs: wallMs, what, detail: String(detail) });
  }

  #lookAtPod(entry: RecorderEntry): void {
    const { verb, what, facts } = entry;
    add(this.#times, what);
    if (what === "ran" && facts["detail"] !== undefined)
      add(this.#plugins, `${facts["plugin"] ?? "a plugin"} of ${facts["network"] ?? "a network"}`);
    if (verb === "ADD") this.#lookAtAdd(entry);
  }

  #lookAtAdd({ wallMs, pod, what, facts }: RecorderEntry): void {
    switch (what) {
      case "waiting":
        this.#lookAtLine(wallMs, facts["detail"]);
        break;
      case "permitted":
        this.#turn(pod, numberOf(facts["tookMs"]));
        break;
      case "committed":
        this.#attached.add(pod);
        break;
      case "failed":
        add(this.#failures, this.#reasonOf(String(facts["detail"] ?? "")));
        break;
      case "charged":
        this.#held.add(pod);
        this.#holdMsMax = Math.max(this.#holdMsMax, numberOf(facts["holdMs"]));
        break;
    }
  }

  /** `ordinary, position 31 of 40: …`. */
  #lookAtLine(wallMs: number, detail: string | number = ""): void {
    const inLine = Number(/position \d+ of (\d+)/u.exec(String(detail))?.[1] ?? 0);
    if (inLine <= this.#lineMax) return;
    this.#lineMax = inLine;
    this.#lineMaxMs = wallMs;
  }

  #turn(pod: string, waitMs: number): void {
    add(this.#waits, roundedWaitMs(waitMs));
    const name = this.#line.pods.get(pod) ?? "";
    this.#waitMsMax.set(name, Math.max(this.#waitMsMax.get(name) ?? 0, waitMs));
  }

  /** `delegate-failed: …`: the code is ours, the rest may be a plugin's. */
  #reasonOf(detail: string): string {
    const code = /^[a-z-]+(?=: )/u.exec(detail)?.[0] ?? "without a code";
    return this.#isOwn || detail === "" ? code : detail;
  }
}

function numberOf(fact: string | number | undefined): number {
  return typeof fact === "number" ? fact : 0;
}

function add<Key>(counts: Map<Key, number>, key: Key): void {
  const times = counts.get(key);
  if (times !== undefined || counts.size < keptNamesMax) counts.set(key, (times ?? 0) + 1);
}

function tallyOf(counts: ReadonlyMap<string, number>): Tally {
  return [...counts]
    .toSorted(([left, most], [right, more]) => more - most || (left < right ? -1 : 1))
    .slice(0, namesMax);
}
