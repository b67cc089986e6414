import { isCollection, visit, type Document } from "yaml";
import { defaultNetworkAnnotation, networksAnnotation } from "../../base/annotations.ts";
import { asJsonText } from "../../cni/json-text.ts";
import type { LintNetwork, LintPod } from "../../lint/lint-objects.ts";

/** Two braces and what a template has behind them. JSON has a quote or white space there, also where a brace is doubled. */
const placeholder = /\{\{-?\s*[.$(/a-z]/iu;

/** Where the placeholders of a template begin that is YAML all the same; undefined in a document that is none. */
export function placeholderIn(
  text: string,
  parsed: Document.Parsed,
  { networks, pods }: { readonly networks: readonly LintNetwork[]; readonly pods: readonly LintPod[] },
): number | undefined {
  const at = text.search(placeholder);
  if (at === -1) return undefined;
  const isTemplate = hasBracesAsKey(parsed) || networks.some(isNoJsonYet) || pods.some(asksForPlaceholder);
  return isTemplate ? at : undefined;
}

/** For YAML, `{{ .Values.name }}` is a map whose key is a map; no manifest has such keys. */
function hasBracesAsKey(parsed: Document.Parsed): boolean {
  let isFound = false;
  visit(parsed, {
    Pair(_, { key }) {
      if (!isCollection(key)) return undefined;
      isFound = true;
      return visit.BREAK;
    },
  });
  return isFound;
}

/** A placeholder inside a text of the JSON does no harm: the rest can be looked at. */
function isNoJsonYet({ config }: LintNetwork): boolean {
  if (config === undefined || !placeholder.test(config)) return false;
  try {
    asJsonText(config, "spec.config");
    return false;
  } catch {
    return true;
  }
}

function asksForPlaceholder({ annotations }: LintPod): boolean {
  return [networksAnnotation, defaultNetworkAnnotation].some((name) => placeholder.test(annotations[name] ?? ""));
}
