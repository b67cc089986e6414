/** One setting of the daemon: what it may be, and why it is what it is when nobody says otherwise. */
export interface NumberKnob {
  readonly unit: "ms" | "count" | "bytes";
  readonly default: number;
  readonly min: number;
  readonly max: number;
  /** One sentence: why this default, or what the number protects. */
  readonly reason: string;
  readonly origin: KnobOrigin;
}

export interface PathKnob {
  readonly unit: "path";
  /** Undefined: off, or derived from another setting. */
  readonly default: string | undefined;
  /** Bytes of the path as it is used, without a trailing slash. */
  readonly bytesMax: number;
  readonly reason: string;
  readonly origin: KnobOrigin;
}

/** A port that is off unless set. */
export interface PortKnob {
  readonly unit: "port";
  readonly default: undefined;
  readonly min: number;
  readonly max: number;
  readonly reason: string;
  readonly origin: KnobOrigin;
}

export type Knob = NumberKnob | PathKnob | PortKnob;

/** Whose key it is: ours, or one that Multus reads as well. */
type KnobOrigin = "levee" | "multus";
