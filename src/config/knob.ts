/** One number setting of the daemon with its default and bounds. */
export interface NumberKnob {
  readonly unit: "ms" | "count" | "bytes";
  readonly default: number;
  readonly min: number;
  readonly max: number;
  /** The setting's effect, and the reason for its default. */
  readonly reason: string;
  readonly origin: KnobOrigin;
}

export interface PathKnob {
  readonly unit: "path";
  /** Undefined when the setting is off, or derived from another one. */
  readonly default: string | undefined;
  /** Counted without a trailing slash. */
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

/** A list of texts that is empty unless set. */
export interface ListKnob {
  readonly unit: "list";
  readonly default: undefined;
  readonly itemsMax: number;
  readonly reason: string;
  readonly origin: KnobOrigin;
}

/** An address of another program that is off unless set. */
export interface UrlKnob {
  readonly unit: "URL";
  readonly default: undefined;
  readonly bytesMax: number;
  readonly reason: string;
  readonly origin: KnobOrigin;
}

/** A setting that is on or off. */
export interface FlagKnob {
  readonly unit: "boolean";
  readonly default: boolean;
  readonly reason: string;
  readonly origin: KnobOrigin;
}

export type Knob = NumberKnob | PathKnob | PortKnob | ListKnob | UrlKnob | FlagKnob;

/** Levee's own key, or a key of Multus. */
type KnobOrigin = "levee" | "multus";

export function ms(byDefault: number, min: number, max: number, reason: string): NumberKnob {
  return { unit: "ms", default: byDefault, min, max, reason, origin: "levee" };
}

export function count(byDefault: number, min: number, max: number, reason: string): NumberKnob {
  return { unit: "count", default: byDefault, min, max, reason, origin: "levee" };
}

/** A path that is off unless set. */
export function offPath(bytesMax: number, reason: string): PathKnob {
  return { unit: "path", default: undefined, bytesMax, reason, origin: "levee" };
}
