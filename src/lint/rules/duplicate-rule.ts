import { foldKey } from "../../cni/fold-key.ts";
import type { JsonNode, ObjectNode } from "../json-node.ts";
import { lintFinding, type LintFinding } from "../lint-finding.ts";
import { shownValue } from "../shown-value.ts";
import type { ReadNetwork } from "../read-network.ts";

/** Each key occurs once. What a plugin reads into a struct has no case; elsewhere `A` and `a` are two keys. */
export function duplicateRule(read: ReadNetwork): readonly LintFinding[] {
  const structs = new Set<JsonNode>(
    read.plugins.flatMap(({ node, ipam }) => (ipam === undefined ? [node] : [node, ipam.node])),
  );
  return objectsIn(read.conf).flatMap((node) => twice(node, structs.has(node), read));
}

function twice(node: ObjectNode, isFolded: boolean, { network }: ReadNetwork): readonly LintFinding[] {
  const seen = new Map<string, string>();
  return node.members.flatMap(({ key, keySpan }) => {
    const by = isFolded ? foldKey(key) : key;
    const first = seen.get(by);
    if (first === undefined) {
      seen.set(by, key);
      return [];
    }
    const as = first === key ? "" : ` (as ${shownValue(first)})`;
    const message = `the key ${shownValue(key)} was there before${as}; the plugin takes the last one`;
    return [lintFinding("LVN0204", network, { message, spot: { on: "config", span: keySpan } })];
  });
}

function objectsIn(node: JsonNode): readonly ObjectNode[] {
  if (node.kind === "array") return node.elements.flatMap(objectsIn);
  return node.kind === "object" ? [node, ...node.members.flatMap(({ value }) => objectsIn(value))] : [];
}
