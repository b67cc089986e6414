import {
  isMap,
  isPair,
  isScalar,
  isSeq,
  LineCounter,
  parseAllDocuments,
  visit,
  type Document,
  type Scalar,
} from "yaml";
import { CommandFailure } from "../failure.ts";

/** A text in a manifest that names an image, and where it is. */
export interface ImagePlace {
  /** Offsets of the name without its quotes. */
  readonly start: number;
  readonly end: number;
  readonly text: string;
  readonly line: number;
  /** The digest beside the name, in an entry of a kustomization. */
  readonly digest?: string;
}

const containerLists: ReadonlySet<unknown> = new Set(["containers", "initContainers", "ephemeralContainers"]);
const kustomizations: ReadonlySet<unknown> = new Set(["Kustomization", "Component"]);

/** Every image of a manifest: those of containers, and the entries of a kustomization. */
export function imagePlaces(file: string, source: string): readonly ImagePlace[] {
  const lines = new LineCounter();
  return documentsOf(file, source, lines).flatMap((document) =>
    kustomizations.has(document.get("kind"))
      ? kustomizationPlaces(document, { file, source, lines })
      : containerPlaces(document, { file, source, lines }),
  );
}

interface Source {
  readonly file: string;
  readonly source: string;
  readonly lines: LineCounter;
}

export function documentsOf(file: string, source: string, lineCounter: LineCounter): readonly Document[] {
  return parseAllDocuments(source, { lineCounter, uniqueKeys: false }).map((document) => {
    const [problem] = document.errors;
    if (problem === undefined) return document;
    throw new CommandFailure("no-manifest", `Cannot read ${file}: ${problem.message.split("\n", 1)[0] ?? ""}`, {
      remedy: "correct the file or leave it out",
    });
  });
}

function containerPlaces(document: Document, from: Source): readonly ImagePlace[] {
  const places: ImagePlace[] = [];
  visit(document, {
    Pair(_key, pair, ancestors) {
      if (keyOf(pair) !== "image" || !isScalar(pair.value)) return;
      const isInList = ancestors.some((each) => containerLists.has(keyOf(each)));
      if (isInList) places.push(placeOfScalar(pair.value, from));
    },
  });
  return places;
}

/** `newName` beside `digest`, as kustomize puts them together. */
function kustomizationPlaces(document: Document, from: Source): readonly ImagePlace[] {
  const images = document.get("images");
  if (!isSeq(images)) return [];
  return images.items.map((entry) => {
    const [newName, digest] = isMap(entry) ? [entry.get("newName", true), entry.get("digest")] : [];
    if (isScalar(newName) && typeof digest === "string") return { ...placeOfScalar(newName, from), digest };
    throw new CommandFailure("no-manifest", `Cannot read ${from.file}: an entry of images lacks newName or digest`, {
      remedy: "write both, as the release has them",
    });
  });
}

function placeOfScalar(node: Scalar, { file, source, lines }: Source): ImagePlace {
  const [from = 0, to = 0] = node.range ?? [];
  const quotes = node.type === "QUOTE_SINGLE" || node.type === "QUOTE_DOUBLE" ? 1 : 0;
  const [start, end] = [from + quotes, to - quotes];
  const { line } = lines.linePos(from);
  const text = source.slice(start, end);
  // A block, an alias or an escape: the text in the file is not the name.
  if (node.value === text) return { start, end, text, line };
  throw new CommandFailure("no-manifest", `Cannot read ${file}:${line}: the image is not written on one line`, {
    remedy: "write it as image: NAME@sha256:DIGEST",
  });
}

function keyOf(node: unknown): unknown {
  return isPair(node) && isScalar(node.key) ? node.key.value : undefined;
}
