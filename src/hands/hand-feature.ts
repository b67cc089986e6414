/** Features that version 1 of the protocol lacks. */
export type HandFeature = "links" | "list" | "scratch-netns" | "progress" | "remove" | "kept-netns";

interface Need {
  readonly version: number;
  /** Whether the shim of a call refuses it in every version. */
  readonly residentOnly: boolean;
}

const needs: Readonly<Record<HandFeature, Need>> = {
  "links": { version: 2, residentOnly: false },
  "list": { version: 2, residentOnly: true },
  "scratch-netns": { version: 2, residentOnly: true },
  "progress": { version: 3, residentOnly: false },
  "remove": { version: 5, residentOnly: true },
  "kept-netns": { version: 6, residentOnly: true },
};

/** Why a hand lacks a feature; undefined when it has it. */
export function featureLack(
  feature: HandFeature,
  hand: { readonly version: number; readonly isResident: boolean },
): string | undefined {
  const need = needs[feature];
  if (hand.version < need.version)
    return `it needs protocol ${need.version}, this shim speaks ${hand.version}; install the shim that came with the daemon`;
  if (need.residentOnly && !hand.isResident) return "only the resident hand does that";
  return undefined;
}
