import type { JsonText } from "../../base/brand.ts";
import { deadline } from "../../base/clock.ts";
import { LeveeError, toLeveeError } from "../../base/errors.ts";
import type { Chain } from "../../cni/chain.ts";
import { supportsVerb } from "../../cni/cni-version.ts";
import { jsonValue } from "../../cni/json-text.ts";
import { withMember } from "../../cni/plugin-stdin.ts";
import { effectiveNetConf, type NetConf, type ValidAttachment } from "../../config/net-conf.ts";
import { runForNetwork } from "../../hands/run-chain.ts";
import type { AttachmentRecord } from "../../state/attachment-record.ts";
import type { Call } from "../call.ts";
import { netnsToPass } from "../dismantle.ts";
import { primaryNetwork } from "../networks.ts";
import type { Ports } from "../ports.ts";
import { undoRecord } from "../retire.ts";
import { silence, type Answer } from "./answer.ts";
import { networkChain, networkPlace } from "./status.ts";

/** Nobody behind it starts while GC waits for the node to be quiet; a busy node collects garbage another time. */
const aloneWaitMsMax = 3_000;
/** The networks' own GC runs alone, as the specification wants it, so it must not make pods wait for long. */
const aloneMsMax = 10_000;
/** A runtime whose list is wrong must not empty the node: so many detaches in a minute, or a tenth of the node. */
const detachesMax = 5;
const detachesShare = 0.1;

/**
 * Removes what the runtime no longer knows and whose network namespace is gone, then tells every network which
 * attachments remain. What the runtime does not know but still lives is reported, not touched.
 */
export async function gc(call: Call, ports: Ports): Promise<Answer> {
  const conf = effectiveNetConf(await call.config(), ports.config);
  const valid = conf.validAttachments;
  // An absent list is not an empty one: taking it for one would remove every attachment of the node.
  if (valid === undefined)
    throw new LeveeError(
      "config-invalid",
      "Cannot collect garbage as the configuration has no cni.dev/valid-attachments",
    );
  await detachDead(call, valid, ports);
  const late = (): LeveeError =>
    new LeveeError("try-later", `Cannot collect garbage now as the node was busy for ${aloneWaitMsMax} ms`);
  using limit = deadline(ports.clock, aloneWaitMsMax, late, call.signal);
  using _alone = await ports.turns.takeAlone({ verb: "GC", cancel: (reason) => call.cancel(reason) }, limit.signal);
  const errors = await tellNetworks(call, conf, valid, ports);
  if (errors.length === 1 && errors[0] !== undefined) throw errors[0];
  if (errors.length > 1)
    throw new LeveeError(
      "delegate-failed",
      `Garbage collection failed for ${errors.length} networks: ${errors.map((error) => error.message).join("; ")}`,
    );
  return silence;
}

async function detachDead(call: Call, attachments: readonly ValidAttachment[], ports: Ports): Promise<void> {
  const valid = new Set(attachments.map(({ containerID, ifname }) => `${containerID}/${ifname}`));
  const settled = ports.journal.all().filter((record) => record.phase === "acknowledged");
  const known = settled.filter((record) => valid.has(`${record.containerId}/${record.ifname}`));
  const unknown = settled.filter((record) => !known.includes(record));
  if (unknown.length === 0) return;
  const alive = await livingNetns(call, settled, ports);
  refuseBlindness(known, alive);
  const dead = unknown.filter((record) => isDead(record, alive, ports));
  const limit = Math.max(detachesMax, Math.floor(settled.length * detachesShare));
  const due = ports.detachBreaker.admit(dead, limit);
  if (unknown.length > due.length) {
    ports.logger.warn("The runtime does not know some attachments; not all of them can be detached now", {
      unknown: unknown.length,
      dead: dead.length,
      detached: due.length,
    });
  }
  for (const record of due) await detach(call, record, ports);
}

/** A hand that sees none of the namespaces that the runtime calls valid looks into the wrong mount namespace. */
function refuseBlindness(known: readonly AttachmentRecord[], alive: ReadonlySet<AttachmentRecord>): void {
  if (known.length === 0 || known.some((record) => alive.has(record))) return;
  throw new LeveeError(
    "try-later",
    `Cannot tell living network namespaces from dead ones: of ${known.length} that the runtime calls valid, none can be seen`,
  );
}

/**
 * Dead for certain: made before the last boot, or its namespace is gone while another one of the journal can be seen.
 * Where none can be seen at all there is no proof that the hand looks into the right place.
 */
function isDead(record: AttachmentRecord, alive: ReadonlySet<AttachmentRecord>, ports: Ports): boolean {
  if (alive.has(record) || record.chains.some((chain) => chain.disableGC)) return false;
  return alive.size > 0 || (record.bootId !== "" && record.bootId !== ports.bootId);
}

async function detach(call: Call, record: AttachmentRecord, ports: Ports): Promise<void> {
  using _turn = await ports.turns.take(record.containerId, { verb: "DEL", cancel: () => undefined }, call.signal);
  const current = ports.journal.findByToken(record.token);
  if (current === undefined) return;
  await ports.suspects.proveGone(call.hand, current);
  await undoRecord(current, { hand: call.hand, now: { path: "", identity: undefined } }, ports);
}

async function livingNetns(
  call: Call,
  records: readonly AttachmentRecord[],
  ports: Ports,
): Promise<ReadonlySet<AttachmentRecord>> {
  const withPath = records.filter((record) => record.netns.path !== "");
  const identities = withPath.length === 0 ? [] : await call.hand.stat(withPath.map((record) => record.netns.path));
  return new Set(
    withPath.filter(
      (record, index) =>
        netnsToPass(record, { path: record.netns.path, identity: identities[index] }, ports.bootId) !== "",
    ),
  );
}

/** Every network of the journal and the primary one, each with the attachments that are valid on it. */
async function tellNetworks(
  call: Call,
  conf: NetConf,
  valid: readonly ValidAttachment[],
  ports: Ports,
): Promise<readonly LeveeError[]> {
  const place = networkPlace(call, ports, aloneMsMax);
  const errors: LeveeError[] = [];
  for (const chain of await networksToTell(conf, ports)) {
    if (chain.disableGC || !supportsVerb(chain.cniVersion, "GC")) continue;
    const attachments = attachmentsOn(chain, valid, ports);
    const links = chain.links.map((link) => ({
      ...link,
      stdin: withMember(
        withMember(link.stdin, "cni.dev/valid-attachments", attachments),
        "cni.dev/attachments",
        attachments,
      ),
    }));
    try {
      await runForNetwork(call.hand, "GC", { ...chain, links }, place);
    } catch (thrown) {
      if (call.hand.isLost) throw thrown;
      errors.push(toLeveeError(thrown, `Cannot collect garbage of ${chain.network}`));
    }
  }
  return errors;
}

async function networksToTell(conf: NetConf, ports: Ports): Promise<readonly Chain[]> {
  const primary = await primaryNetwork(conf, ports);
  const chains = new Map([[primary.conf.name, networkChain(primary.network, primary.conf)]]);
  // With a damaged journal we cannot tell a network which attachments are valid; it would remove living ones.
  if (ports.journal.quarantined().length > 0) return [...chains.values()];
  for (const record of ports.journal.all()) {
    for (const chain of record.chains) if (!chains.has(chain.confName)) chains.set(chain.confName, chain);
  }
  return [...chains.values()];
}

/** The runtime's list speaks of the primary network's interfaces; for all others the journal knows. */
function attachmentsOn(chain: Chain, valid: readonly ValidAttachment[], ports: Ports): JsonText {
  const known = ports.journal
    .all()
    .flatMap((record) =>
      record.chains
        .filter((other) => other.confName === chain.confName)
        .map((other) => ({ containerID: String(record.containerId), ifname: String(other.ifname) })),
    );
  const all = chain.isDefault ? [...known, ...valid] : known;
  const unique = new Map(all.map(({ containerID, ifname }) => [`${containerID}/${ifname}`, { containerID, ifname }]));
  return jsonValue([...unique.values()]);
}
