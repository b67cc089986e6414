import { LeveeError } from "../base/errors.ts";
import { JsonGrammarError } from "../cni/json-grammar.ts";
import { asJsonText } from "../cni/json-text.ts";
import { elementsOf, memberOf, jsonNodeOf, textMember, type JsonNode, type ObjectNode } from "./json-node.ts";
import type { LintCode } from "./lint-codes.ts";
import type { LintNetwork, LintSpot } from "./lint-objects.ts";

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

/** What keeps a network's configuration from being read. It is no finding yet: the daemon reads networks, too. */
export interface UnreadNetwork {
  readonly code: LintCode;
  readonly message: string;
  readonly spot: LintSpot;
}

/** Reads `spec.config`; a text that is no JSON object is a finding, and nothing else can be said about it. */
export function readNetwork(network: LintNetwork): ReadNetwork | UnreadNetwork {
  const field = { on: "field", path: ["spec", "config"] } as const;
  if (network.isConfigNoText)
    return {
      code: "LVN0202",
      message: "spec.config must be a text that holds JSON, and is not a text",
      spot: field,
    };
  const { config } = network;
  if (config === undefined)
    return {
      code: "LVN0203",
      message: "it has no spec.config, so a file with this name must be in the CNI folder of each node",
      spot: { on: "field", path: ["spec"] },
    };
  const node = nodeOf(config);
  if ("code" in node) return node;
  if (node.kind !== "object")
    return {
      code: "LVN0201",
      message: `spec.config must be a JSON object, and is ${node.kind === "array" ? "a list" : `a ${node.kind}`}`,
      spot: { on: "config", span: node },
    };
  return networkOf(network, node);
}

/** A network of which only the meaning counts, not where its text stands. */
export type UnplacedNetwork = Pick<LintNetwork, "namespace" | "name" | "annotations" | "config">;

/** Undefined where nothing can be said about it. */
export function readUnplaced(network: UnplacedNetwork): ReadNetwork | undefined {
  const place = { file: "", line: 1, column: 1, endLine: 1, endColumn: 1 };
  const read = readNetwork({ ...network, title: "", locate: () => place, isConfigNoText: false });
  return "code" in read ? undefined : read;
}

function nodeOf(config: string): JsonNode | UnreadNetwork {
  try {
    return jsonNodeOf(asJsonText(config, "spec.config"));
  } catch (thrown) {
    if (!(thrown instanceof LeveeError)) throw thrown;
    const { cause } = thrown;
    if (!(cause instanceof JsonGrammarError))
      return {
        code: "LVN0201",
        message: thrown.message,
        spot: { on: "field", path: ["spec", "config"] },
      };
    return {
      code: "LVN0201",
      message: `spec.config is not JSON: ${cause.message}`,
      spot: { on: "config", span: { start: cause.offset, end: cause.offset + 1 } },
    };
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
