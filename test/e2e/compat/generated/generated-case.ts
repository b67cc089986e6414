/** A network definition of a case; without `config` it has no spec. */
export interface Definition {
  readonly name: string;
  readonly namespace: string;
  readonly config?: string;
}

/**
 * One pod and everything it meets, as data. `{lab}` stands for the lab's folder and `{case}` for the case's own folder
 * in it, in every text.
 */
export interface GeneratedCase {
  /** In names of pods, networks, containers and folders. */
  readonly id: string;
  /** With `LEVEE_TURNS=1` it makes this case again. */
  readonly seed: number;
  /** The row in the table of counts. */
  readonly kind: string;
  /** The pod's. */
  readonly namespace: string;
  readonly annotations: Readonly<Record<string, string>>;
  /** What the runtime's conf has besides name, type and folders. */
  readonly conf: Readonly<Record<string, unknown>>;
  readonly definitions: readonly Definition[];
  /** Files in the case's folder: confs, and `plugin.COMMAND` for the recording plugins. */
  readonly files: Readonly<Record<string, string>>;
}

/** Whether its plugins make real devices. */
export function isReal({ kind }: GeneratedCase): boolean {
  return kind.includes("real plugins");
}
