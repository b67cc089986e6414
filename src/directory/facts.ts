import type { Namespace, PodName, PodUid } from "../base/brand.ts";

/** A pod, in the few fields that decide its networks. */
export interface PodFacts {
  readonly namespace: Namespace;
  readonly name: PodName;
  /** Empty when the file gives none: then there is nothing to compare a call's UID with. */
  readonly uid: PodUid;
  readonly annotations: Readonly<Record<string, string>>;
  readonly priority: number | undefined;
  /** Started by kubelet from a file, so its UID in the API differs from the one the runtime knows. */
  readonly isStatic: boolean;
  /** From status.phase, which a file written by hand does not have. */
  readonly phase?: string;
}

/** A NetworkAttachmentDefinition. */
export interface NetworkDefinition {
  readonly namespace: Namespace;
  readonly name: string;
  /** The text of spec.config, untouched; undefined when it is empty, and a file in confDir is meant. */
  readonly config: string | undefined;
  readonly annotations: Readonly<Record<string, string>>;
}

/** What is wrong in the folder. The file's last good content, if it had one, is still served. */
export interface DirectoryProblem {
  /** Relative to the folder; empty for the folder itself. */
  readonly file: string;
  readonly line: number | undefined;
  readonly reason: string;
}
