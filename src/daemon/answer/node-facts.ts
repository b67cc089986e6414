import type { ConfDirFacts } from "../conf-dir/conf-dir-facts.ts";
import type { Ports } from "../ports.ts";

/** What can be told about this node, beyond what the parts themselves know. */
export interface NodeFacts {
  readonly ports: Ports;
  readonly software: string;
  readonly nodeName: string;
  readonly socketPath: string;
  readonly startedWallMs: number;
  /** Things a person should know, in plain English. */
  readonly notices: () => readonly string[];
  /** Those of them that say why a pod or a network may not be found. */
  readonly sourceNotices: () => readonly string[];
  /** How it stands with the conf by which the runtime finds us; undefined when that is not our business. */
  readonly confDir: () => ConfDirFacts | undefined;
}
