/** One document of a YAML file, with its place in the file. */
export interface YamlPart {
  readonly text: string;
  readonly start: number;
}

/**
 * The documents that may hold a network or a pod that names one. Parsing YAML is slow, and most documents of a repository
 * have nothing to do with networks, so only these are parsed. A line that begins with `---` ends a document wherever it
 * stands, also inside a text (YAML 1.2, 9.1.2).
 */
export function documentsOfInterest(text: string): readonly YamlPart[] {
  if (!interest.test(text)) return [];
  const starts = [0, ...Array.from(text.matchAll(separator), ({ index }) => index)];
  return starts
    .map((start, at) => ({ text: text.slice(start, starts[at + 1] ?? text.length), start }))
    .filter((part) => interest.test(part.text));
}

const separator = /^---(?=\s|$)/gmu;
/** The kind, the annotations of pods, and the networks of KubeVirt's machines. */
const interest =
  /NetworkAttachmentDefinition\b|k8s\.v1\.cni\.cncf\.io\/networks|v1\.multus-cni\.io\/default-network|\bmultus"?\s*:/u;
