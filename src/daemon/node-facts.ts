import type { Ports } from "./ports.ts";

/** What can be told about this node, beyond what the parts themselves know. */
export interface NodeFacts {
  readonly ports: Ports;
  readonly software: string;
  readonly nodeName: string;
  readonly socketPath: string;
  readonly startedWallMs: number;
  /** Things a person should know, in plain English. */
  readonly notices: () => readonly string[];
}
