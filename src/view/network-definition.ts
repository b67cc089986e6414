import type { Namespace } from "../base/brand.ts";

/** A NetworkAttachmentDefinition. */
export interface NetworkDefinition {
  readonly namespace: Namespace;
  readonly name: string;
  /** Undefined for one that comes from a folder. */
  readonly uid?: string;
  /** The text of spec.config, untouched; undefined when it is empty, and a file in confDir is meant. */
  readonly config: string | undefined;
  /** From a cluster only those that the daemon reads. */
  readonly annotations: Readonly<Record<string, string>>;
  /** The configuration is too long for the local copy: `config` says so instead, and only the server has it. */
  readonly isElided?: true;
}
