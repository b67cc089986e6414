import type { Clock } from "../../base/clock.ts";
import type { NodeStorms } from "../../state/recorder/node-storm.ts";
import type { Recorder } from "../record/recorder.ts";

/**
 * A look parses the whole flight recorder. Anybody who reaches the port may ask, so this bounds what strangers can cost.
 */
const restMs = 5_000;

/** The storms of this node for `levee report --storm`, which asks over the metrics port. */
export class StormTeller {
  readonly #clock: Clock;
  readonly #recorder: Pick<Recorder, "read">;
  #looking: Promise<NodeStorms> | undefined;
  #endedMs = Number.NEGATIVE_INFINITY;

  constructor({ clock, recorder }: { readonly clock: Clock; readonly recorder: Pick<Recorder, "read"> }) {
    this.#clock = clock;
    this.#recorder = recorder;
  }

  /** Those who ask at the same time share a look. */
  async of(): Promise<NodeStorms | "busy"> {
    if (this.#looking === undefined && this.#clock.monotonicMs() - this.#endedMs < restMs) return "busy";
    this.#looking ??= this.#look();
    return await this.#looking;
  }

  async #look(): Promise<NodeStorms> {
    try {
      // Loaded with the first question: an idle daemon does not pay for it.
      const { readStorms } = await import("../../state/recorder/read-storms.ts");
      return await this.#recorder.read((folder) => readStorms(folder, "own"));
    } finally {
      this.#endedMs = this.#clock.monotonicMs();
      this.#looking = undefined;
    }
  }
}
