import { isMap, isScalar, parseAllDocuments, type Document, type Node } from "yaml";
import { networksAnnotation, defaultNetworkAnnotation } from "../../base/annotations.ts";
import type { LintNetwork, LintPlace, LintPod, LintSpot } from "../../lint/lint-objects.ts";
import { asWritten, withIndentedQuotes, type DocumentText } from "./document-text.ts";
import { ScalarOffsets } from "./scalar-offsets.ts";
import type { TextPositions } from "./text-positions.ts";
import { placeholderIn } from "./unrendered.ts";
import type { YamlPart } from "./yaml-documents.ts";
import { TooManyAliases, YamlFields } from "./yaml-fields.ts";

/** Where a document stands. */
export interface DocumentSource {
  readonly file: string;
  /** Of the whole file. */
  readonly positions: TextPositions;
  /** Takes the place of the namespace in each object, as a kustomization's does. */
  readonly namespace?: string | undefined;
}

export interface ReadDocument {
  readonly networks: readonly LintNetwork[];
  readonly pods: readonly LintPod[];
  /** Why the document cannot be read. */
  readonly problem?: { readonly message: string; readonly place: LintPlace };
}

/** The networks of one document, and the pods that name some. */
export function readDocument(part: YamlPart, source: DocumentSource): ReadDocument {
  const written = parseText(asWritten(part, source.positions), source);
  if (written.problem === undefined) return written;
  const moved = parseText(withIndentedQuotes(part, source.positions), source);
  return moved.problem === undefined ? moved : written;
}

function parseText(document: DocumentText, source: DocumentSource): ReadDocument {
  try {
    // Pretty errors and the parser's own check for duplicate keys take quadratic time.
    const options = { prettyErrors: false, uniqueKeys: false, logLevel: "silent" } as const;
    const documents = parseAllDocuments(document.text, options);
    const place: Placing = { ...source, document };
    const parts = (Array.isArray(documents) ? documents : []).map((each) => objectsOf(each, place));
    return {
      networks: parts.flatMap(({ networks }) => networks),
      pods: parts.flatMap(({ pods }) => pods),
      ...problemOf(parts),
    };
  } catch (thrown) {
    // The parser recurses, so a document that is nested too deeply throws a RangeError.
    if (!(thrown instanceof RangeError) && !(thrown instanceof TooManyAliases)) throw thrown;
    const message = thrown instanceof RangeError ? "it is nested too deeply" : `it has ${thrown.message}`;
    return { networks: [], pods: [], problem: { message, place: placeOf({ ...source, document }, 0, 0) } };
  }
}

function problemOf(parts: readonly ReadDocument[]): Pick<ReadDocument, "problem"> {
  const problem = parts.find((part) => part.problem !== undefined)?.problem;
  return problem === undefined ? {} : { problem };
}

/** The document that is read, and the file that it stands in. */
interface Placing extends DocumentSource {
  readonly document: DocumentText;
}

function objectsOf(parsed: Document.Parsed, source: Placing): ReadDocument {
  const [error] = parsed.errors;
  if (error !== undefined) {
    const place = placeOf(source, error.pos[0], error.pos[1]);
    return { networks: [], pods: [], problem: { message: error.message.split("\n", 1)[0] ?? "", place } };
  }
  const fields = new YamlFields(parsed);
  const objects = itemsOf(fields).map((node) => new YamlObject(node, fields, source));
  const networks = objects.flatMap((object) => object.network() ?? []);
  const pods = objects.flatMap((object) => object.pod() ?? []);
  const at = placeholderIn(source.document.text, parsed, { networks, pods });
  if (at === undefined) return { networks, pods };
  return { networks: [], pods: [], problem: { message: "it is a template", place: placeOf(source, at, at + 2) } };
}

/** `kubectl get -o yaml` prints a List. */
function itemsOf(fields: YamlFields): readonly Node[] {
  const { root } = fields;
  if (root === undefined) return [];
  return fields.text(root, "kind").endsWith("List") ? fields.list(root, "items") : [root];
}

/** An object of a document, and where its fields are. */
class YamlObject {
  readonly #node: Node;
  readonly #fields: YamlFields;
  readonly #source: Placing;

  constructor(node: Node, fields: YamlFields, source: Placing) {
    this.#node = node;
    this.#fields = fields;
    this.#source = source;
  }

  network(): LintNetwork | undefined {
    const fields = this.#fields;
    if (this.#kind !== "NetworkAttachmentDefinition") return undefined;
    if (!fields.text(this.#node, "apiVersion").startsWith("k8s.cni.cncf.io/")) return undefined;
    const config = fields.node(this.#node, "spec", "config");
    const value = isScalar(config) ? (config.value ?? "") : config;
    const text = typeof value === "string" ? value : undefined;
    const isEmpty = value === undefined || text?.trim() === "";
    let offsets: ScalarOffsets | undefined;
    return {
      ...this.#names(["metadata"]),
      config: isEmpty ? undefined : text,
      isConfigNoText: !isEmpty && text === undefined,
      specKeys: fields.keys(this.#node, "spec"),
      locate: (spot) => {
        if (spot.on !== "config" || !isScalar(config) || text === undefined) return this.#locate(spot, ["metadata"]);
        offsets ??= this.#offsetsOf(config, text);
        return placeOf(this.#source, offsets.at(spot.span.start), offsets.past(spot.span.end - 1));
      },
    };
  }

  pod(): LintPod | undefined {
    const fields = this.#fields;
    const path = templatePath(this.#kind);
    const names = this.#names(path);
    const machine = this.#kind.startsWith("VirtualMachine") ? this.#machineNetworks() : undefined;
    const annotations = machine === undefined ? names.annotations : { [networksAnnotation]: machine };
    if (!(networksAnnotation in annotations) && !(defaultNetworkAnnotation in annotations)) return undefined;
    const at = machine === undefined ? path : ["spec", "template", "spec", "networks"];
    const replicas = fields.scalar(this.#node, "spec", "replicas")?.value;
    return {
      ...names,
      annotations,
      count: this.#kind === "DaemonSet" ? this.#perNode() : typeof replicas === "number" ? replicas : 1,
      claimNames: fields
        .list(this.#node, ...path.slice(0, -1), "spec", "resourceClaims")
        .map((claim) => fields.text(claim, "resourceClaimName")),
      locate: (spot) => this.#locate(machine === undefined ? spot : { on: "field", path: [] }, at),
    };
  }

  /** A selector or an affinity may keep a DaemonSet from any node. */
  #perNode(): "per-node" | undefined {
    const choices = ["nodeSelector", "affinity"] as const;
    const isChosen = choices.some(
      (key) => this.#fields.node(this.#node, "spec", "template", "spec", key) !== undefined,
    );
    return isChosen ? undefined : "per-node";
  }

  get #kind(): string {
    return this.#fields.text(this.#node, "kind");
  }

  #names(path: readonly string[]): Omit<LintNetwork, "config" | "isConfigNoText" | "locate"> {
    const fields = this.#fields;
    const name = fields.text(this.#node, "metadata", "name");
    const own = fields.text(this.#node, "metadata", "namespace");
    const namespace = this.#source.namespace ?? (own === "" ? "default" : own);
    return {
      title: `${this.#kind} ${namespace}/${name}`,
      namespace,
      name,
      annotations: fields.texts(this.#node, ...path, "annotations"),
    };
  }

  /** The annotation that KubeVirt makes of a machine's networks, with the MAC addresses of the interfaces. */
  #machineNetworks(): string | undefined {
    const fields = this.#fields;
    const spec =
      this.#kind === "VirtualMachineInstance"
        ? fields.node(this.#node, "spec")
        : fields.node(this.#node, "spec", "template", "spec");
    const interfaces = fields.list(spec, "domain", "devices", "interfaces");
    const elements = fields.list(spec, "networks").flatMap((network) => {
      const [name = "", namespace] = fields.text(network, "multus", "networkName").split("/").toReversed();
      if (name === "") return [];
      const label = fields.text(network, "name");
      const mac = fields.text(
        interfaces.find((each) => fields.text(each, "name") === label),
        "macAddress",
      );
      return [{ name, ...(namespace === undefined ? {} : { namespace }), ...(mac === "" ? {} : { mac }) }];
    });
    return elements.length === 0 ? undefined : JSON.stringify(elements);
  }

  #offsetsOf(config: Node, value: string): ScalarOffsets {
    const [from, to] = config.range ?? [0, 0];
    const style = (isScalar(config) ? config.type : undefined) ?? "PLAIN";
    const source = this.#source.document.text.slice(from, to);
    return new ScalarOffsets(value, { source, start: from, style });
  }

  /** `annotations` of a field's path are those of the pod, wherever the kind has them. */
  #locate(spot: LintSpot, metadata: readonly string[]): LintPlace {
    const path = spot.on === "field" ? spot.path : [];
    const full = path[0] === "annotations" || path.length === 0 ? [...metadata, ...path] : path;
    for (let length = full.length; length >= 0; length -= 1) {
      const node = this.#fields.node(this.#node, ...full.slice(0, length));
      // A map begins at its first key, and a text at its quotes.
      if (node?.range) return placeOf(this.#source, node.range[0], lineEnd(node));
    }
    return placeOf(this.#source, 0, 0);
  }
}

/** A finding about a whole object points at its beginning, not at all of its lines. */
function lineEnd(node: Node): number {
  const [from = 0, to = 0] = node.range ?? [];
  return isMap(node) ? from + 1 : to;
}

function templatePath(kind: string): readonly string[] {
  if (kind === "Pod" || kind === "VirtualMachineInstance") return ["metadata"];
  return kind === "CronJob"
    ? ["spec", "jobTemplate", "spec", "template", "metadata"]
    : ["spec", "template", "metadata"];
}

function placeOf({ file, document }: Placing, from: number, to: number): LintPlace {
  const [start, end] = [document.at(from), document.at(Math.max(from + 1, to))];
  return { file, line: start.line, column: start.column, endLine: end.line, endColumn: end.column };
}
