/** One call of a plugin. */
export interface Step {
  readonly command: "ADD" | "CHECK" | "DEL" | "STATUS" | "GC";
  readonly id: string;
  readonly ifname: string;
  /** A line of shell that changes the world just before. */
  readonly first?: string;
}

/** A configuration with what is there before it is used, and the calls that use it. */
export interface Case {
  readonly seed: number;
  readonly plugin: string;
  readonly conf: Readonly<Record<string, unknown>>;
  /** `CNI_ARGS`. */
  readonly args: string;
  /** Lines of shell that make the world before the first call. `host` and `box` run a command in a namespace. */
  readonly before: readonly string[];
  readonly steps: readonly Step[];
  /** Whether the built-in plugin may leave calls after the first one to the program, which then serves them. */
  readonly mayLeaveLater?: boolean;
  /** An IPAM plugin has files only; the namespaces need no look. */
  readonly isOnlyFiles?: boolean;
}

/** The release that a built-in plugin is compared with, and the folder of its programs. */
export interface Upstream {
  readonly version: "1.1.1" | "1.9.1";
  readonly folder: string;
}

/** Which one serves a step. */
export type Server = "program" | "built-in";
