import { floorCaller } from "./contenders/floor.ts";
import type { Contender } from "./contenders/contender.ts";
import { builtIn, Levee, withPrograms } from "./contenders/levee.ts";
import { Multus, multusKinds, multusLabel } from "./contenders/multus.ts";
import type { StormFigures } from "./storm/figures.ts";
import { Ground } from "./ground/ground.ts";
import { middleRun } from "./runs.ts";
import { firstError, storm, type StormOutcome } from "./storm/storm.ts";
import { stormPods } from "./storm/pods.ts";

/** The options of the command line. */
export interface BenchOptions {
  /** Few pods and no verdicts: only shows that everything runs. */
  readonly isQuick: boolean;
  readonly withPeers: boolean;
}

/** How often a small storm is measured. The median counts. */
const smallRuns = 3;
/** A larger one takes up to a minute and varies little. */
const smallMax = 219;
/** On a busy machine 2,000 pods take some minutes. A floor that is cut off ends the whole run. */
const floorCutMs = 600_000;

/** The run with the median time, and the times of all runs. */
type Floor = StormOutcome & { readonly runsMs: readonly number[] };

/** One run of the benchmarks: the ground, the contenders, and the figures that several cells compare with. */
export class Bench {
  readonly ground: Ground;
  readonly options: BenchOptions;
  readonly levee: Levee;
  /** Levee without built-in plugins. */
  readonly programs: Levee;
  /** Releases of Multus, or the reason why they are missing. */
  readonly peers: readonly (Contender | { readonly label: string; readonly missing: string })[];
  readonly #storms = new Map<number, StormFigures>();
  readonly #floors = new Map<number, Floor>();

  private constructor(ground: Ground, options: BenchOptions, peers: Bench["peers"]) {
    this.ground = ground;
    this.options = options;
    this.peers = peers;
    this.levee = new Levee(ground, builtIn);
    this.programs = new Levee(ground, withPrograms);
  }

  static async start(folder: string, options: BenchOptions): Promise<Bench> {
    const ground = await Ground.make(folder);
    const peers = [];
    for (const kind of options.withPeers ? multusKinds : []) {
      const found = await Multus.find(ground, kind);
      peers.push("missing" in found ? { label: multusLabel(kind), ...found } : found);
    }
    return new Bench(ground, options, peers);
  }

  /** As many pods as the target says, or few with `--quick`. */
  count(pods: number): number {
    return this.options.isQuick ? Math.min(pods, Math.max(12, Math.round(pods / 10))) : pods;
  }

  /** The plugins of so many pods run directly. Measured once per run of the benchmarks. */
  async floor(pods: number): Promise<Floor & { readonly tookMs: number }> {
    const outcome = this.#floors.get(pods) ?? (await this.#measureFloor(pods));
    this.#floors.set(pods, outcome);
    if (outcome.tookMs === undefined) throw new Error(`The delegates fail when run directly: ${firstError(outcome)}`);
    return { ...outcome, tookMs: outcome.tookMs };
  }

  /** Levee's figures of a storm of so many pods, for comparison with other cells. Measured once. */
  async stormOf(pods: number, measure: () => Promise<StormFigures>): Promise<StormFigures> {
    const figures = this.#storms.get(pods) ?? (await measure());
    this.#storms.set(pods, figures);
    return figures;
  }

  /** How often a storm of so many pods is measured. */
  runsOf(pods: number): number {
    return this.options.isQuick || pods > smallMax ? 1 : smallRuns;
  }

  async stop(): Promise<void> {
    await this.ground.remove();
  }

  say(text: string): void {
    process.stdout.write(`  ${text}\n`);
  }

  async #measureFloor(pods: number): Promise<Floor> {
    const outcomes: StormOutcome[] = [];
    while (outcomes.length < this.runsOf(pods)) {
      await this.ground.clear();
      const caller = await floorCaller(this.ground);
      outcomes.push(await storm(this.ground, caller, { pods: stormPods(pods), late: [], cutMs: floorCutMs }));
    }
    const timeOf = ({ tookMs = Infinity }: StormOutcome): number => tookMs;
    return { ...middleRun(outcomes, timeOf), runsMs: outcomes.map(timeOf) };
  }
}
