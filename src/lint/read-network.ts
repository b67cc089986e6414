import { LeveeError } from "../base/errors.ts";
import { JsonGrammarError } from "../cni/json-grammar.ts";
import { asJsonText } from "../cni/json-text.ts";
import { elementsOf, memberOf, jsonNodeOf, textMember, type JsonNode, type ObjectNode } from "./json-node.ts";
import { lintFinding, shownValue, type LintFinding } from "./lint-finding.ts";
import type { LintNetwork } from "./lint-objects.ts";
import { nearestKey } from "./nearest-key.ts";

/** A network whose configuration is JSON, with its plugins as far as they can be read. */
export interface ReadNetwork {
  readonly network: LintNetwork;
  readonly conf: ObjectNode;
  readonly isList: boolean;
  /** The name that plugins get. */
  readonly name: string;
  readonly plugins: readonly ReadPlugin[];
}

export interface ReadPlugin {
  readonly type: string;
  readonly node: ObjectNode;
  /** Undefined unless it is an object that names a plugin. */
  readonly ipam: { readonly type: string; readonly node: ObjectNode } | undefined;
}

/** Reads `spec.config`; a text that is no JSON object is a finding, and nothing else can be said about it. */
export function readNetwork(network: LintNetwork): ReadNetwork | LintFinding {
  const field = { on: "field", path: ["spec", "config"] } as const;
  if (network.isConfigNoText)
    return lintFinding("LVN0202", network, {
      message: "spec.config must be a text that holds JSON, and is not a text",
      spot: field,
    });
  const { config } = network;
  if (config === undefined) return withoutConfig(network);
  const node = nodeOf(network, config);
  if ("code" in node) return node;
  if (node.kind !== "object")
    return lintFinding("LVN0201", network, {
      message: `spec.config must be a JSON object, and is ${node.kind === "array" ? "a list" : `a ${node.kind}`}`,
      spot: { on: "config", span: node },
    });
  return networkOf(network, node);
}

function withoutConfig(network: LintNetwork): LintFinding {
  const { specKeys = [] } = network;
  const key = specKeys.find((each) => each !== "config" && nearestKey(each, ["config"]) !== undefined);
  if (key !== undefined)
    return lintFinding("LVN0301", network, {
      message: `spec does not know the key ${shownValue(key)}, so it has no configuration`,
      remedy: 'did you mean "config"?',
      spot: { on: "field", path: ["spec", key] },
    });
  return lintFinding("LVN0203", network, {
    message: "it has no spec.config, so a file with this name must be in the CNI folder of each node",
    spot: { on: "field", path: ["spec"] },
  });
}

/** A network of which only the meaning counts, not where its text stands. */
export type UnplacedNetwork = Pick<LintNetwork, "namespace" | "name" | "annotations" | "config">;

/** Undefined where nothing can be said about it. */
export function readUnplaced(network: UnplacedNetwork): ReadNetwork | undefined {
  const place = { file: "", line: 1, column: 1, endLine: 1, endColumn: 1 };
  const read = readNetwork({ ...network, title: "", locate: () => place, isConfigNoText: false });
  return "code" in read ? undefined : read;
}

function nodeOf(network: LintNetwork, config: string): JsonNode | LintFinding {
  try {
    return jsonNodeOf(asJsonText(config, "spec.config"));
  } catch (thrown) {
    if (!(thrown instanceof LeveeError)) throw thrown;
    const { cause } = thrown;
    if (!(cause instanceof JsonGrammarError))
      return lintFinding("LVN0201", network, {
        message: thrown.message,
        spot: { on: "field", path: ["spec", "config"] },
      });
    return lintFinding("LVN0201", network, {
      message: `spec.config is not JSON: ${cause.message}`,
      spot: { on: "config", span: { start: cause.offset, end: cause.offset + 1 } },
    });
  }
}

function networkOf(network: LintNetwork, conf: ObjectNode): ReadNetwork {
  const isList = textMember(conf, "type") === undefined;
  const nodes = isList ? elementsOf(memberOf(conf, "plugins")?.value) : [conf];
  return {
    network,
    conf,
    isList,
    name: textMember(conf, "name") ?? network.name,
    plugins: nodes.flatMap((node) => (node.kind === "object" ? [pluginOf(node)] : [])),
  };
}

function pluginOf(node: ObjectNode): ReadPlugin {
  const ipam = memberOf(node, "ipam")?.value;
  const type = textMember(ipam, "type");
  return {
    type: textMember(node, "type") ?? "",
    node,
    ipam: ipam?.kind === "object" && type !== undefined ? { type, node: ipam } : undefined,
  };
}
