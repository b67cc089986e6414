import type { Deed } from "./deed.ts";
import type { Difference } from "./differences.ts";
import type { GeneratedCase } from "./generated-case.ts";
import { isReprintOf } from "./reprints.ts";

/** Two deeds for one case. */
export interface Pair {
  readonly one: GeneratedCase;
  readonly theirs: Deed;
  readonly ours: Deed;
}

/** A difference that is meant to be. */
export interface Rule {
  /** The first cell of its line in docs/compat.md, "Different on purpose". */
  readonly row: string;
  readonly explains: (difference: Difference, pair: Pair) => boolean;
}

/** Levee refuses in these words; Multus may have served it, or have run plugins before it failed. */
function refused(row: string, words: RegExp): Rule {
  return {
    row,
    explains: ({ at }, { ours }) =>
      (at === "outcome" || at === "ADD runs") && !ours.isServed && words.test(ours.answer),
  };
}

/** Multus refuses in these words, and Levee serves. */
function served(row: string, words: RegExp): Rule {
  return {
    row,
    explains: ({ at }, { theirs, ours }) => at === "outcome" && ours.isServed && words.test(theirs.answer),
  };
}

const mistyped = /json: cannot unmarshal|invalid character|invalid type|error parsing/u;

export const rules: readonly Rule[] = [
  {
    row: "plugins inherit the daemon's environment and are looked up in `binDir`",
    explains: ({ at, theirs, ours }) => at.endsWith(" environment") && isWithin(ours, theirs),
  },
  {
    row: "a plugin's stdin contains `capabilities`",
    explains: ({ at, ours }) => /\bcapabilities$/iu.test(at) && ours === undefined,
  },
  {
    row: "DEL after a refused ADD runs all plugins",
    // What an undo could not remove is deleted now.
    explains: ({ at, theirs, ours }, pair) =>
      !pair.ours.isServed && ((at === "DEL runs" && isWithin(ours, theirs)) || (at === "DEL answer" && ours === true)),
  },
  {
    row: "MAC and IP in `CNI_ARGS` at ADD only",
    explains: ({ at, theirs, ours }) =>
      / DEL .* CNI_ARGS$/u.test(` ${at}`) && /^(;MAC=[^;]*)?(;IP=.*)?$/u.test(tail(ours, theirs)),
  },
  {
    row: "a network without `cniVersion`: an empty one at ADD, the runtime's at DEL",
    explains: ({ at, theirs, ours }, pair) =>
      (at.endsWith(" stdin.cniVersion") && ours === "0.1.0" && (theirs === "" || at.startsWith("DEL"))) ||
      (/^DEL .* stdin\.prevResult$/u.test(at) && ours === undefined && hasVersion(pair.ours, "0.1.0")),
  },
  {
    row: "a list loses its fields before DEL; ports and bandwidth are missing at DEL",
    explains: ({ at, theirs, ours }, pair) =>
      (/^DEL DEL \S+ \S+ stdin\.[^.]*$/u.test(at) && isLost(theirs)) ||
      /^DEL DEL .* stdin\.runtimeConfig\.(portMappings|bandwidth)/u.test(at) ||
      (at === "left" && isOnly(theirs, "port mapping") && isEmpty(ours) && pair.ours.isDeleted),
  },
  {
    row: "a result is read and printed again before the next plugin or DEL gets it: empty members go, addresses have one spelling",
    explains: ({ at, theirs, ours }) => at.includes(" stdin.prevResult") && isReprintOf(theirs, ours),
  },
  {
    row: "ports and rates of the annotation are read and printed again: keys in their usual letters, 0 for a rate that is not there",
    explains: ({ at, theirs, ours }) =>
      /ADD .* stdin\.runtimeConfig\.(portMappings|bandwidth)/u.test(at) && isReprintOf(theirs, ours),
  },
  {
    row: "the runtime's ports and bandwidth go to every network",
    explains: ({ at, ours }) =>
      /^(ADD ADD|DEL DEL) .* net\d+ stdin\.runtimeConfig(\.\w+)?$/u.test(at) && ours === undefined,
  },
  refusedAfterwards("a default route that cannot be set fails the ADD without undo", /Cannot set the default route/u),
  {
    row: "the undo of a failed ADD deletes plugins of a list that did not run, hands over no `prevResult`, and stops in a list at the first that fails",
    explains: ({ at, theirs, ours }, pair) =>
      (at === "ADD runs" && !pair.ours.isServed && isUndoOf(ours, theirs)) ||
      (/^ADD DEL .* stdin\.prevResult$/u.test(at) && theirs === undefined),
  },
  {
    row: "DEL always succeeds, and a failed one is lost",
    explains: ({ at, theirs, ours }, pair) =>
      (at === "left" && isOnly(theirs, "result file", "scratch file") && isEmpty(ours)) ||
      (at === "DEL runs" && pair.ours.isServed && !pair.ours.isDeleted && isRetryOf(ours, theirs)),
  },
  {
    row: '`"ips":[]` puts an empty `IP=` into `CNI_ARGS`',
    explains: ({ at, theirs, ours }) => at.endsWith(" CNI_ARGS") && theirs === `${String(ours)};IP=`,
  },
  served("`multusNamespace` of an empty text is no namespace", /failed to get (clusterNetwork|defaultNetwork)/u),
  {
    row: "an empty name in `defaultNetworks` is the first conf in `confDir`",
    explains: ({ at }, { one }) =>
      ["status", "ADD runs", "DEL runs"].includes(at) && Bun.deepEquals(one.conf["defaultNetworks"], [""]),
  },
  refused(
    "a request that no plugin serves is dropped",
    /^Cannot attach .* (none of its plugins|declare no capability)/u,
  ),
  refused(
    "two networks may want one interface name; the second plugin fails",
    /has that interface name in the same pod/u,
  ),
  refused(
    "a bad `interface` in JSON, or an empty address in `default-route`, is found after the first plugins ran",
    /interface name|key "interface"|invalid IP address: $/u,
  ),
  refused(
    "an interface name that the namespace has already is refused right before its own plugin",
    /there is an interface \S+ in \S+ already/u,
  ),
  refused("a key occurs twice in an element: the last one counts", /must be given once/u),
  refused("ports, protocols and rates are handed on unchecked", /key "(portMappings|bandwidth)" must (have|be)/u),
  refused("a network's `cniVersion` is handed on unchecked", /its cniVersion must be one of/u),
  refused(
    "`globalNamespaces` may hold words that cannot be namespaces",
    /globalNamespaces is .* set names of namespaces/u,
  ),
  refused(
    "a plugin of a network is first looked at when the networks before it are attached",
    /^Cannot use (plugin \d+ of )?(delegates\[|the NetworkAttachmentDefinition)/u,
  ),
  served("a definition is refused when a member has another type than Multus knows, or a number is too big", mistyped),
  served("an annotation of blanks is a network without a name", /cannot find a network-attachment-definition \(\)/u),
  served(
    "a result without addresses for a runtime of 0.2.0: error after the plugins ran, without undo",
    /cannot convert: no valid IP addresses/u,
  ),
  {
    row: "`<nil>` as gateway in network-status for a default route without one",
    explains: ({ at, theirs, ours }) => at === "status" && withoutNil(String(theirs)) === ours,
  },
];

/** Both refuse, Levee in these words after its plugins ran: it undid them. */
function refusedAfterwards(row: string, words: RegExp): Rule {
  return {
    row,
    explains: ({ at, theirs, ours }, pair) =>
      at === "ADD runs" && words.test(pair.ours.answer) && isList(theirs) && isList(ours) && isUndone(theirs, ours),
  };
}

function isUndone(theirs: readonly string[], ours: readonly string[]): boolean {
  const undone = theirs.toReversed().map((run) => run.replace(/^ADD/u, "DEL"));
  return Bun.deepEquals(ours, [...theirs, ...undone]);
}

/** The same ADDs; ours deletes exactly these, theirs others too or fewer. */
function isUndoOf(ours: unknown, theirs: unknown): boolean {
  if (!isList(ours) || !isList(theirs)) return false;
  const added = (runs: readonly string[]): readonly string[] => runs.filter((run) => run.startsWith("ADD"));
  return Bun.deepEquals(added(theirs), added(ours)) && isUndone(added(ours), ours);
}

/** Ours are theirs, and once more those that failed. */
function isRetryOf(ours: unknown, theirs: unknown): boolean {
  return (
    isList(ours) && isList(theirs) && theirs.every((run) => ours.includes(run)) && new Set(ours).size < ours.length
  );
}

function isList(value: unknown): value is readonly string[] {
  return Array.isArray(value);
}

function isEmpty(value: unknown): boolean {
  return isList(value) && value.length === 0;
}

/** A member that Multus' own type does not have, or has empty. */
function isLost(value: unknown): boolean {
  return value === undefined || Bun.deepEquals(value, {});
}

function hasVersion({ deleted }: Deed, version: string): boolean {
  return deleted.some(({ stdin }) => stdin.includes(`"cniVersion":"${version}"`));
}

function isOnly(value: unknown, ...words: readonly string[]): boolean {
  return isList(value) && value.length > 0 && value.every((word) => words.includes(word));
}

function isWithin(part: unknown, whole: unknown): boolean {
  return isList(part) && isList(whole) && part.every((name) => whole.includes(name));
}

/** What `longer` has after `shorter`; a text that no rule knows when it is none of it. */
function tail(longer: unknown, shorter: unknown): string {
  const [long, short] = [String(longer), String(shorter)];
  return long.startsWith(short) ? long.slice(short.length) : "?";
}

/** A network-status without gateways that are nil. */
function withoutNil(status: string): string {
  return status
    .replaceAll(/\n {8}"\\u003cnil\\u003e",?/gu, "")
    .replaceAll(/,\n {4}"gateway": \[\n {4}\]/gu, "")
    .replaceAll(/",(\n {4}\])/gu, '"$1');
}
