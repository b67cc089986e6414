import type { IfName, JsonText, Namespace } from "../base/brand.ts";
import { LeveeError } from "../base/errors.ts";
import { defaultNetworkAnnotation, tooLongWish, wishCharsMax } from "../base/annotations.ts";
import { firstChars } from "../base/short-text.ts";
import { trimSpace } from "../base/trim-space.ts";
import { ifnameBytesMax, kernelProblem } from "../cni/interface-name.ts";
import { JsonGrammarError } from "../cni/json-grammar.ts";
import { arrayElements, asJsonText, jsonKind } from "../cni/json-text.ts";
import { parseElement } from "./selection-json.ts";
import type { SelectionElement } from "./selection-element.ts";

export { networkNameOf, type SelectionElement } from "./selection-element.ts";

/** Each network runs a chain of processes and takes room in the journal, all within one ADD's 25 s. */
const networksMax = 64;

/**
 * Reads `k8s.v1.cni.cncf.io/networks` in either grammar. The errors have the words of Multus, because people search for
 * them.
 */
export function parseSelection(annotation: string, podNamespace: Namespace): SelectionElement[] {
  const tooLong = tooLongWish(annotation);
  if (tooLong !== undefined)
    throw invalid(
      `parsePodNetworkAnnotation: the annotation may have at most ${wishCharsMax} characters: it has ${shown(tooLong)}`,
    );
  if (trimSpace(annotation) === "") return [];
  // Multus' own test for the grammar: the short form contains none of these characters.
  return /[[{"]/.test(annotation) ? parseJsonForm(annotation, podNamespace) : parseShortForm(annotation, podNamespace);
}

function refuseTooMany(count: number): void {
  if (count <= networksMax) return;
  throw invalid(`parsePodNetworkAnnotation: a pod may ask for at most ${networksMax} networks: it asks for ${count}`);
}

/** Reads `v1.multus-cni.io/default-network`: exactly one network, by default in Multus' own namespace. */
export function defaultNetworkOf(
  annotations: Readonly<Record<string, string>>,
  multusNamespace: Namespace,
): SelectionElement | undefined {
  if (!Object.hasOwn(annotations, defaultNetworkAnnotation)) return undefined;
  const annotation = annotations[defaultNetworkAnnotation] ?? "";
  if (annotation === "") {
    throw invalid('parsePodNetworkAnnotation: pod annotation does not have "network" as key');
  }
  const [element, ...rest] = parseSelection(annotation, multusNamespace);
  if (rest.length > 0) {
    throw invalid(`tryLoadK8sPodDefaultNetwork: more than one default network is specified: ${annotation}`);
  }
  if (element === undefined) {
    throw invalid(`tryLoadK8sPodDefaultNetwork: no default network is specified: ${annotation}`);
  }
  return element;
}

const jsonPrefix =
  "parsePodNetworkAnnotation: failed to parse pod Network Attachment Selection Annotation JSON format: ";

function parseJsonForm(annotation: string, podNamespace: Namespace): SelectionElement[] {
  const text = readJson(annotation);
  const kind = jsonKind(text);
  if (kind === "null") return [];
  if (kind !== "array") {
    throw invalid(`${jsonPrefix}json: cannot unmarshal ${kind} into Go value of type []*types.NetworkSelectionElement`);
  }
  const elements = arrayElements(text);
  // Here too, before they are read: so many elements would block the daemon.
  refuseTooMany(elements.length);
  return elements.map((element, index) => parseElement(element, { podNamespace, index, prefix: jsonPrefix }));
}

function readJson(annotation: string): JsonText {
  try {
    return asJsonText(annotation, "the annotation");
  } catch (cause) {
    const reason = cause instanceof LeveeError && cause.cause instanceof JsonGrammarError ? cause.cause : cause;
    throw invalid(`${jsonPrefix}${reason instanceof Error ? reason.message : String(reason)}`, cause);
  }
}

function parseShortForm(annotation: string, podNamespace: Namespace): SelectionElement[] {
  const items = annotation.split(",");
  // Check the count first: parsing so many would block the daemon.
  refuseTooMany(items.length);
  return items.map((item) => parseShortItem(trimSpace(item), podNamespace));
}

/** `[<namespace>/]<name>[@<interface>]` */
function parseShortItem(item: string, podNamespace: Namespace): SelectionElement {
  const slashed = item.split("/");
  if (slashed.length > 2) throw shortFormError("Invalid network object (failed at '/')");
  const namespace = slashed.length === 2 ? trimSpace(slashed[0] ?? "") : "";
  const named = (slashed.at(-1) ?? "").split("@");
  if (named.length > 2) throw shortFormError("Invalid network object (failed at '@')");
  const [name = "", ifname = ""] = named.map(trimSpace);
  checkLabel(namespace);
  checkLabel(name);
  checkShortIfname(ifname);
  return {
    name,
    namespace: namespace === "" ? podNamespace : (namespace as Namespace), // matched the label pattern
    ...(ifname === "" ? {} : { ifname: ifname as IfName }), // checked just above
    unknownKeys: [],
  };
}

const labelPattern = /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?$/;

function checkLabel(label: string): void {
  if (label === "" || labelPattern.test(label)) return;
  throw shortFormError(
    `Failed to parse: one or more items did not match comma-delimited format (must consist of lower case alphanumeric characters). Must start and end with an alphanumeric character), mismatch @ '${shown(label)}'`,
  );
}

function checkShortIfname(ifname: string): void {
  // Stricter than Multus: libcni and the kernel would refuse these names later.
  const isBad = /[\s/:\p{Cc}]/u.test(ifname) || ifname === "." || ifname === "..";
  const isLong = Buffer.byteLength(ifname, "utf8") > ifnameBytesMax;
  const problem = isBad || isLong ? "must be less than 15 chars and not contain '/' or spaces" : kernelProblem(ifname);
  if (problem === undefined) return;
  throw shortFormError(`Failed to parse interface name: ${problem}. interface name '${shown(ifname)}'`);
}

/** An annotation may have 256 KiB without a comma, which is too long for an error. */
function shown(text: string): string {
  return text.length > shownCharsMax ? `${firstChars(text, shownCharsMax)}…` : text;
}

const shownCharsMax = 253;

function shortFormError(reason: string): LeveeError {
  return invalid(`parsePodNetworkAnnotation: parsePodNetworkObjectName: ${reason}`);
}

function invalid(message: string, cause?: unknown): LeveeError {
  return new LeveeError("annotation-invalid", message, cause === undefined ? {} : { cause });
}
