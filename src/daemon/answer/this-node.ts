/** What the daemon can say about itself and its node, beyond what its parts know. */
export interface ThisNode {
  readonly software: string;
  readonly nodeName: string;
  readonly socketPath: string;
  readonly startedWallMs: number;
  /** Things a person should know, in plain English. */
  readonly notices: () => readonly string[];
  /** Those of them that say why a pod or a network may not be found. */
  readonly sourceNotices: () => readonly string[];
}
