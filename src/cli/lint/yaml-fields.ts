import { isAlias, isMap, isScalar, isSeq, type Document, type Node, type Scalar, type YAMLMap } from "yaml";

/** Following an alias searches the document, so thousands of them would take long; no manifest has so many. */
const aliasesMax = 100;

/** A document with more aliases than anybody writes. */
export class TooManyAliases extends Error {
  override readonly name = "TooManyAliases";
}

/** Reads fields of a YAML document as nodes, which know their places. Nothing is expanded, so an alias bomb stays small. */
export class YamlFields {
  readonly #document: Document.Parsed;
  #aliases = 0;

  constructor(document: Document.Parsed) {
    this.#document = document;
  }

  get root(): Node | undefined {
    return this.#document.contents ?? undefined;
  }

  node(from: Node | undefined, ...path: readonly string[]): Node | undefined {
    let found = this.#resolved(from);
    for (const key of path) {
      if (!isMap(found)) return undefined;
      found = this.#resolved(valueOf(found, key));
    }
    return found;
  }

  text(from: Node | undefined, ...path: readonly string[]): string {
    const found = this.scalar(from, ...path);
    return typeof found?.value === "string" ? found.value : "";
  }

  scalar(from: Node | undefined, ...path: readonly string[]): Scalar | undefined {
    const found = this.node(from, ...path);
    return isScalar(found) ? found : undefined;
  }

  list(from: Node | undefined, ...path: readonly string[]): readonly Node[] {
    const found = this.node(from, ...path);
    if (!isSeq(found)) return [];
    return found.items.flatMap((item) => this.#resolved(item as Node) ?? []);
  }

  /** The keys of an object that are plain. */
  keys(from: Node | undefined, ...path: readonly string[]): readonly string[] {
    const found = this.node(from, ...path);
    if (!isMap(found)) return [];
    return found.items.flatMap(({ key }) => (isScalar(key) ? [String(key.value)] : []));
  }

  /** The entries whose values are plain; numbers and flags as they are printed. */
  texts(from: Node | undefined, ...path: readonly string[]): Readonly<Record<string, string>> {
    const found = this.node(from, ...path);
    if (!isMap(found)) return {};
    return Object.fromEntries(
      found.items.flatMap(({ key, value }) => {
        const plain = this.#resolved(value as Node);
        return isScalar(key) && isScalar(plain) ? [[String(key.value), String(plain.value)]] : [];
      }),
    );
  }

  #resolved(node: Node | undefined): Node | undefined {
    if (!isAlias(node)) return node;
    this.#aliases += 1;
    if (this.#aliases > aliasesMax) throw new TooManyAliases(`more than ${aliasesMax} aliases`);
    return node.resolve(this.#document);
  }
}

/** The last of several, as the API server's decoder takes it. */
function valueOf(map: YAMLMap, key: string): Node | undefined {
  const pair = map.items.findLast((item) => isScalar(item.key) && item.key.value === key);
  return (pair?.value ?? undefined) as Node | undefined; // the parser makes nodes only
}
