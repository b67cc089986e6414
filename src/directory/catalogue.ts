import type { KeptFile } from "./contents.ts";
import type { DirectoryProblem } from "./directory-problem.ts";
import type { NetworkDefinition } from "../view/network-definition.ts";
import type { PodFacts } from "../view/pod-facts.ts";

/** All objects of the folder, by `namespace/name`. */
export interface Catalogue {
  readonly pods: ReadonlyMap<string, PodFacts>;
  readonly networks: ReadonlyMap<string, NetworkDefinition>;
  /** Objects that are defined more than once. */
  readonly problems: readonly DirectoryProblem[];
}

/** Combines the files. Of two definitions of one object, the first by file name counts. */
export function buildCatalogue(files: Iterable<readonly [string, KeptFile]>): Catalogue {
  const pods = new Shelf<PodFacts>("the pod");
  const networks = new Shelf<NetworkDefinition>("the network");
  const problems: DirectoryProblem[] = [];
  for (const [file, { manifest }] of files) {
    for (const pod of manifest.pods) pods.put(pod, file, problems);
    for (const network of manifest.networks) networks.put(network, file, problems);
  }
  return { pods: pods.objects, networks: networks.objects, problems };
}

export function objectKey(namespace: string, name: string): string {
  return `${namespace}/${name}`;
}

/** The objects of one kind, and the file each of them came from. */
class Shelf<Item extends { readonly namespace: string; readonly name: string }> {
  readonly objects = new Map<string, Item>();
  readonly #files = new Map<string, string>();
  readonly #what: string;

  constructor(what: string) {
    this.#what = what;
  }

  put(item: Item, file: string, problems: DirectoryProblem[]): void {
    const key = objectKey(item.namespace, item.name);
    const first = this.#files.get(key);
    if (first !== undefined) {
      problems.push({
        file,
        line: undefined,
        reason: `Cannot use ${this.#what} ${key} as it must be defined once: ${first} defines it already, and that definition is served`,
      });
      return;
    }
    this.objects.set(key, item);
    this.#files.set(key, file);
  }
}
