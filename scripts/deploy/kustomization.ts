import { dirname, join, normalize } from "node:path/posix";
import { parse, parseAllDocuments, type Document } from "yaml";
import { applyOperations, type Operation } from "./json-patch.ts";

/** Reads a file of the repository. Undefined if there is none. */
export type Read = (path: string) => string | undefined;

/** The fields that our kustomization.yaml files may have. Others are refused, because only kubectl would apply them. */
interface Kustomization {
  readonly resources?: readonly string[];
  readonly components?: readonly string[];
  readonly patches?: readonly Patch[];
  readonly images?: readonly Image[];
}

interface Patch {
  readonly path?: string;
  readonly patch?: string;
  readonly target?: { readonly kind?: string; readonly name?: string };
  readonly options?: { readonly allowNameChange?: boolean };
}

export interface Image {
  readonly name: string;
  readonly newName: string;
  readonly digest: string;
}

const knownKeys = new Set(["apiVersion", "kind", "resources", "components", "patches", "images"]);

/** The objects of a folder as `kubectl kustomize` renders them, with their comments. Covers the features that we use. */
export function renderFolder(folder: string, read: Read): readonly Document[] {
  const kustomization = readKustomization(folder, read);
  let objects: readonly Document[] = (kustomization.resources ?? []).flatMap((path) =>
    resource(normalize(join(folder, path)), read),
  );
  for (const path of kustomization.components ?? []) objects = laidOver(objects, normalize(join(folder, path)), read);
  return laidOver(objects, folder, read);
}

/** Applies the patches and images of a folder to objects; those of a component to the objects of the folder that names it. */
function laidOver(objects: readonly Document[], folder: string, read: Read): readonly Document[] {
  const { patches = [], images = [] } = readKustomization(folder, read);
  let all = objects;
  for (const patch of patches) all = patched(all, patch, folder, read);
  for (const object of all) setImages(object, images);
  return all;
}

export function readKustomization(folder: string, read: Read): Kustomization {
  const path = join(folder, "kustomization.yaml");
  const text = mustRead(path, read);
  const kustomization = parse(text) as Kustomization; // our own file; its keys are checked below
  const strangers = Object.keys(kustomization).filter((key) => !knownKeys.has(key));
  if (strangers.length > 0) throw new Error(`Cannot render ${path}: ${strangers.join(", ")} is not supported here`);
  return kustomization;
}

function resource(path: string, read: Read): readonly Document[] {
  return path.endsWith(".yaml") ? readObjects(path, read) : renderFolder(path, read);
}

export function readObjects(path: string, read: Read): readonly Document[] {
  return parseAllDocuments(mustRead(path, read)).map((object) => {
    const [problem] = object.errors;
    if (problem !== undefined) throw new Error(`Cannot read ${path}: ${problem.message}`);
    return object;
  });
}

function patched(objects: readonly Document[], patch: Patch, folder: string, read: Read): readonly Document[] {
  const text = patch.patch ?? mustRead(join(folder, patch.path ?? ""), read);
  const parsed: unknown = parse(text);
  if (!Array.isArray(parsed)) return objects.filter((object) => !matches(object, deletedBy(parsed, folder)));
  const targets = objects.filter((object) => matches(object, patch.target ?? {}));
  if (targets.length === 0) throw new Error(`Cannot patch in ${folder}: nothing is ${JSON.stringify(patch.target)}`);
  for (const object of targets) applyOperations(object, parsed as readonly Operation[]); // checked as they are applied
  return objects;
}

/** The only patch we use that is not a list of operations: `$patch: delete`. */
function deletedBy(parsed: unknown, folder: string): { kind: string; name: string } {
  const { $patch, kind, metadata } = parsed as { $patch?: string; kind: string; metadata: { name: string } }; // ours
  if ($patch !== "delete") throw new Error(`Cannot patch in ${folder}: write a list of operations or $patch: delete`);
  return { kind, name: metadata.name };
}

function matches(object: Document, target: { readonly kind?: string; readonly name?: string }): boolean {
  const isKind = target.kind === undefined || object.get("kind") === target.kind;
  // A whole name, or several names with | between them, as in kustomize.
  return (
    isKind && (target.name === undefined || target.name.split("|").includes(String(object.getIn(["metadata", "name"]))))
  );
}

function setImages(object: Document, images: readonly Image[]): void {
  for (const list of ["initContainers", "containers"]) {
    const at = ["spec", "template", "spec", list];
    for (let index = 0; object.hasIn([...at, index]); index += 1) {
      const image = images.find(({ name }) => object.getIn([...at, index, "image"]) === name);
      if (image !== undefined) object.setIn([...at, index, "image"], `${image.newName}@${image.digest}`);
    }
  }
}

function mustRead(path: string, read: Read): string {
  const text = read(path);
  if (text === undefined) throw new Error(`Cannot render ${dirname(path)}: there is no ${path}`);
  return text;
}
