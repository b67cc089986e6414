import { lintFinding, type LintFinding } from "../../lint/lint-finding.ts";
import type { LintNetwork, LintPlace, LintPod } from "../../lint/lint-objects.ts";
import type { LintCode } from "../../lint/lint-codes.ts";
import { readDocument, type DocumentSource } from "./read-document.ts";
import { TextPositions } from "./text-positions.ts";
import { documentsOfInterest } from "./yaml-documents.ts";

/** What files have of networks, and what could not be read of them. */
export interface LintSources {
  readonly files: number;
  readonly networks: readonly LintNetwork[];
  readonly pods: readonly LintPod[];
  readonly findings: readonly LintFinding[];
}

const noSources: LintSources = { files: 0, networks: [], pods: [], findings: [] };

export function joinSources(parts: readonly LintSources[]): LintSources {
  return {
    files: parts.reduce((sum, { files }) => sum + files, 0),
    networks: parts.flatMap(({ networks }) => networks),
    pods: parts.flatMap(({ pods }) => pods),
    findings: parts.flatMap(({ findings }) => findings),
  };
}

/** A document is one object or a list of them; generated lists of thousands have some MiB. */
const documentCharsMax = 8 * 1_024 * 1_024;

/** Reads the text of one file. A document that cannot be read is a finding, and the others are read all the same. */
export function readLintSource(file: string, text: string, namespace?: string): LintSources {
  const source: DocumentSource = { file, positions: new TextPositions(text), namespace };
  const parts = documentsOfInterest(text).map((part): LintSources => {
    if (part.text.length > documentCharsMax)
      return only(
        fileFinding(
          "LVN0101",
          partPlace(source, part.start),
          `the document has ${part.text.length} characters, and at most ${documentCharsMax} are read`,
        ),
      );
    const { networks, pods, problem } = readDocument(part, source);
    if (problem === undefined) return { files: 0, networks, pods, findings: [] };
    const isTemplate = part.text.includes("{{");
    return only(
      isTemplate
        ? fileFinding(
            "LVN0102",
            problem.place,
            "the document is a template, and was not looked at",
            "helm template RELEASE CHART | levee lint -",
          )
        : fileFinding("LVN0101", problem.place, `the document cannot be read: ${problem.message}`),
    );
  });
  return { ...joinSources(parts), files: 1 };
}

export function only(finding: LintFinding): LintSources {
  return { ...noSources, findings: [finding] };
}

/** A finding about a file and not about an object in it. */
export function fileFinding(code: LintCode, place: LintPlace, message: string, remedy = ""): LintFinding {
  const object = { title: place.file, namespace: "", name: "", annotations: {}, locate: () => place };
  return lintFinding(code, object, { message, remedy });
}

/** The beginning of a file that has not been read. */
export function startOf(file: string): LintPlace {
  return { file, line: 1, column: 1, endLine: 1, endColumn: 1 };
}

function partPlace({ file, positions }: DocumentSource, start: number): LintPlace {
  const { line } = positions.at(start);
  return { file, line, column: 1, endLine: line, endColumn: 1 };
}
