import { knownIpams } from "../ipam-keys.ts";
import { memberOf, type ObjectNode } from "../json-node.ts";
import { lintFinding, type LintFinding } from "../lint-finding.ts";
import { shownValue } from "../shown-value.ts";
import { nearestKey } from "../nearest-key.ts";
import { knownPlugins } from "../plugin-keys.ts";
import type { ReadNetwork } from "../read-network.ts";

/** A plugin's name that is nearly that of one that we know. Of other unknown names nothing can be said. */
export function typeRule(read: ReadNetwork): readonly LintFinding[] {
  return read.plugins.flatMap(({ type, node, ipam }) => [
    ...typeFindings(read, node, { type, known: knownPlugins }),
    ...(ipam === undefined ? [] : typeFindings(read, ipam.node, { type: ipam.type, known: knownIpams })),
  ]);
}

interface Naming {
  readonly type: string;
  readonly known: readonly string[];
}

function typeFindings({ network }: ReadNetwork, node: ObjectNode, { type, known }: Naming): readonly LintFinding[] {
  const value = memberOf(node, "type")?.value;
  if (value === undefined || known.includes(type) || otherPlugins.has(type)) return [];
  const near = nearestKey(type, known);
  if (near === undefined || isOwnName(type, near)) return [];
  return [
    lintFinding("LVN0305", network, {
      message: `no plugin that Levee knows is called ${shownValue(type)}`,
      remedy: `did you mean ${shownValue(near)}?`,
      spot: { on: "config", span: value },
    }),
  ];
}

/** Plugins whose keys we do not know, with names near those that we know. */
const otherPlugins: ReadonlySet<string> = new Set(["macvtap", "vxlan"]);

/** `bridge2` and `macvlan-cni` are made of a name that we know, on purpose. */
function isOwnName(type: string, near: string): boolean {
  return /[0-9]/u.test(type) || (type.includes(near) && type.length - near.length > 1);
}
