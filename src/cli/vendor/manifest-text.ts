import { parseAllDocuments, type Document } from "yaml";
import { oneLine } from "../../base/plain-text.ts";
import { CommandFailure } from "../failure.ts";
import { parseImage } from "../registry/image-reference.ts";
import { namedImages } from "../registry/named-images.ts";

export interface ManifestFacts {
  readonly objects: number;
  readonly images: readonly string[];
}

/** Reads the bytes as Kubernetes objects in YAML, and refuses everything else. `what` is the source, for the error. */
export function readManifestBytes(bytes: Uint8Array, what: string): ManifestFacts {
  const text = textOf(bytes, what);
  if (/^\s*<(?:!doctype|html|\?xml)/iu.test(text))
    throw unusable(
      what,
      "it is an HTML or XML page",
      "give the address of the raw file; a page about it is no manifest",
    );
  const objects = parsedObjects(text, what);
  if (objects.length === 0) throw unusable(what, "it has no objects", "give the address of a Kubernetes manifest");
  const images = objects.flatMap(namedImages).filter((image) => parseImage(image) !== undefined);
  return { objects: objects.length, images: [...new Set(images)].toSorted() };
}

function textOf(bytes: Uint8Array, what: string): string {
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw unusable(what, "it is not UTF-8 text", "give the address of a Kubernetes manifest, not of an archive");
  }
  // Behind the header such a mark would be in the middle of a file, where YAML has none.
  if (text.startsWith("\ufeff"))
    throw unusable(what, "it begins with a byte order mark", "ask its authors to remove it");
  if (/[\u0000-\u0008\u000b\u000c\u000e-\u001f]/u.test(text))
    throw unusable(what, "it has control characters", "give the address of a Kubernetes manifest");
  return text;
}

function parsedObjects(text: string, what: string): readonly Document[] {
  return parseAllDocuments(text).flatMap((document, index) => {
    const where = `document ${index + 1}`;
    const [problem] = document.errors;
    if (problem !== undefined)
      throw unusable(what, `${where} is not YAML: ${oneLine(problem.message.split("\n", 1)[0] ?? "")}`, cutOff);
    const value = plainValueOf(() => document.toJS(), what, where);
    if (value === null) return [];
    if (!isObject(value)) throw unusable(what, `${where} has no apiVersion and kind`, cutOff);
    return [document];
  });
}

const cutOff = "fetch it again; if it stays so, it is no Kubernetes manifest";

function plainValueOf(read: () => unknown, what: string, where: string): unknown {
  try {
    return read();
  } catch (cause) {
    // The parser stops at aliases that multiply.
    const why = cause instanceof Error ? oneLine(cause.message) : "";
    throw unusable(what, `${where} cannot be read: ${why}`, cutOff);
  }
}

function isObject(value: unknown): value is object {
  if (typeof value !== "object" || value === null) return false;
  const { apiVersion, kind } = value as { apiVersion?: unknown; kind?: unknown }; // an object of the YAML parser
  return typeof apiVersion === "string" && typeof kind === "string";
}

function unusable(what: string, why: string, remedy: string): CommandFailure {
  return new CommandFailure("vendor-content", `Cannot vendor ${what}: ${why}`, { remedy });
}
