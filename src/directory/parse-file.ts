import type { Document, LineCounter } from "yaml";
import type { FileProblem } from "./directory-problem.ts";
import type { FieldPath } from "./fields.ts";
import { limits } from "./limits.ts";
import { ManifestBuilder, type Manifest } from "./manifest.ts";

/** Either all objects of the file or its problems: a file is used as a whole or not at all. */
type ParsedFile = { readonly manifest: Manifest } | { readonly problems: readonly FileProblem[] };
export type ParseFile = (bytes: Uint8Array) => ParsedFile;

type Yaml = typeof import("yaml");

/** Loads the YAML parser only when a folder is used. It is the daemon's only dependency. */
export async function loadParser(): Promise<ParseFile> {
  const yaml = await import("yaml");
  return (bytes) => parseFile(yaml, bytes);
}

function parseFile(yaml: Yaml, bytes: Uint8Array): ParsedFile {
  const text = decodeText(bytes);
  if (text === undefined)
    return {
      problems: [{ line: undefined, reason: "Cannot read the file as it must be UTF-8 text: it has other bytes" }],
    };
  const problems: FileProblem[] = [];
  const builder = new ManifestBuilder();
  const lines = new yaml.LineCounter();
  try {
    // Pretty errors and the parser's own check for duplicate keys take quadratic time: a minute for a hostile 256 KiB.
    const documents = yaml.parseAllDocuments(text, {
      prettyErrors: false,
      uniqueKeys: false,
      logLevel: "silent",
      lineCounter: lines,
    });
    for (const document of documents) addDocument(yaml, document, { builder, lines, problems });
  } catch (thrown) {
    // The parser recurses, so a very deep document throws a RangeError. Too many aliases throw a ReferenceError.
    problems.push({
      line: undefined,
      reason: `Cannot parse the file as YAML: ${thrown instanceof Error ? thrown.message : String(thrown)}`,
    });
  }
  return problems.length === 0
    ? { manifest: builder.build() }
    : { problems: problems.slice(0, limits.problemsPerFileMax) };
}

interface FileParse {
  readonly builder: ManifestBuilder;
  readonly lines: LineCounter;
  readonly problems: FileProblem[];
}

function addDocument(yaml: Yaml, document: Document.Parsed, into: FileParse): void {
  const { builder, lines, problems } = into;
  const error = document.errors[0];
  if (error !== undefined) {
    // The first error is the cause; the others usually follow from it.
    problems.push({
      line: lines.linePos(error.pos[0]).line,
      reason: `Cannot parse the file as YAML: ${error.message}`,
    });
    return;
  }
  const twice = duplicateKey(yaml, document);
  if (twice !== undefined) {
    problems.push({
      line: lines.linePos(twice.offset).line,
      reason: `Cannot use a document as each key must occur once: ${JSON.stringify(twice.key)} is repeated`,
    });
    return;
  }
  const value: unknown = document.toJS({ mapAsMap: true, maxAliasCount: limits.aliasesMax });
  if (value === null || value === undefined) return; // Nothing between two `---`.
  builder.add(value, (path, reason) => problems.push({ line: lineOf(yaml, document, path, lines), reason }));
}

/** Undefined for other encodings and for binary files, which nearly always have a NUL. */
function decodeText(bytes: Uint8Array): string | undefined {
  if (bytes.includes(0)) return undefined;
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return undefined; // A TypeError: the bytes are not UTF-8.
  }
}

function duplicateKey(yaml: Yaml, document: Document.Parsed): { key: string; offset: number } | undefined {
  let found: { key: string; offset: number } | undefined;
  yaml.visit(document, {
    Map(_key, map) {
      const seen = new Set<unknown>();
      for (const { key } of map.items) {
        if (!yaml.isScalar(key)) continue;
        if (seen.has(key.value)) {
          found = { key: String(key.value), offset: key.range?.[0] ?? 0 };
          return yaml.visit.BREAK;
        }
        seen.add(key.value);
      }
      return undefined;
    },
  });
  return found;
}

/** The line of the field, or of the nearest existing node around it. */
function lineOf(yaml: Yaml, document: Document.Parsed, path: FieldPath, lines: LineCounter): number | undefined {
  for (let length = path.length; length >= 0; length -= 1) {
    const node = length === 0 ? document.contents : document.getIn(path.slice(0, length), true);
    if (yaml.isNode(node) && node.range) return lines.linePos(node.range[0]).line;
  }
  return undefined;
}
