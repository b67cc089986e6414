import type { NetworkWord } from "../../wire/network-question.ts";
import type { NodeFacts } from "../facts/world.ts";
import type { ReadinessStatus, ReadyCounts, ReadyReason, UnreadyNode } from "./readiness-object.ts";

export interface ReadinessFacts {
  /** Of the network's definition; undefined when there is none. */
  readonly mark: string | undefined;
  /** The nodes that count. */
  readonly nodes: readonly Pick<NodeFacts, "name">[];
  /** What the daemon of a node said last about the network; undefined for a silent one. */
  readonly wordOf: (node: string) => NetworkWord | undefined;
}

type Verdict = Pick<ReadinessStatus, "nodes" | "unready"> & {
  readonly status: "True" | "False" | "Unknown";
  readonly reason: ReadyReason;
  readonly message: string;
};

/** A person reads the first ones; the object stays small. */
const namedMax = 20;
const reasonCharsMax = 256;

/** Nodes that take no pods now do not count: nobody can wait for them. A node that comes back has the uplink gate. */
export function countingNodes(nodes: readonly NodeFacts[], selected?: ReadonlySet<string>): readonly NodeFacts[] {
  return nodes.filter(
    ({ name, isReady, isCordoned }) => isReady && isCordoned !== true && (selected === undefined || selected.has(name)),
  );
}

/** Whether a network is ready: only if every node that counts says so of the definition as it is now. */
export function judgeReadiness({ mark, nodes, wordOf }: ReadinessFacts): Verdict {
  if (mark === undefined)
    return verdict("False", "NetworkMissing", "there is no such NetworkAttachmentDefinition", noNodes);
  if (nodes.length === 0)
    return verdict("False", "NoNodes", "no node that takes pods has the labels of nodeSelector", noNodes);
  const said = nodes.map(({ name }) => ({ node: name, ...saidBy(wordOf(name), mark) }));
  const of = (state: string): readonly (UnreadyNode & { state: string })[] => said.filter((one) => one.state === state);
  const [notReady, notHeard] = [of("not-ready"), of("not-heard")];
  const unready = [...notReady, ...notHeard].map(({ node, reason }) => ({ node, reason }));
  const counts = {
    total: nodes.length,
    ready: of("ready").length,
    notReady: notReady.length,
    notHeard: notHeard.length,
  };
  const facts = { counts, unready: unready.slice(0, namedMax) };
  if (notReady.length > 0) return verdict("False", "NodesNotReady", summary(counts, unready), facts);
  if (notHeard.length > 0) return verdict("Unknown", "NodesNotHeard", summary(counts, unready), facts);
  return verdict("True", "AllNodesReady", `ready on ${counts.total} of ${counts.total} nodes`, facts);
}

interface Told {
  readonly counts: ReadyCounts;
  readonly unready: readonly UnreadyNode[];
}

const noNodes: Told = { counts: { total: 0, ready: 0, notReady: 0, notHeard: 0 }, unready: [] };

function verdict(status: Verdict["status"], reason: ReadyReason, message: string, { counts, unready }: Told): Verdict {
  return { status, reason, message, nodes: counts, unready };
}

function saidBy(word: NetworkWord | undefined, mark: string): { readonly state: string; readonly reason: string } {
  if (word === undefined) return { state: "not-heard", reason: "no daemon of Levee answers on this node" };
  if (word.state === "absent" || word.mark !== mark)
    return { state: "not-heard", reason: "its daemon has not looked at this version of the definition yet" };
  const reason = word.reasons.join(", ").slice(0, reasonCharsMax);
  if (word.state === "unknown")
    return { state: "not-heard", reason: reason || "its resident hand has not looked at the host yet" };
  return { state: word.state, reason };
}

/** The first node in full: it shows in `kubectl get` and in Argo CD. */
function summary({ total, ready }: ReadyCounts, [first, ...rest]: readonly UnreadyNode[]): string {
  const more = rest.length === 0 ? "" : ` and ${rest.length} more`;
  return `ready on ${ready} of ${total} nodes; ${first?.node ?? ""}: ${first?.reason ?? ""}${more}`;
}
