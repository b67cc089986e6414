import type { Clock } from "../../base/clock.ts";
import { LeveeError } from "../../base/errors.ts";
import type { NetworkChange } from "../../attachment/network-changes.ts";
import type { JsonText, Namespace, PodName } from "../../base/brand.ts";
import type { Chain } from "../../cni/chain.ts";
import { podArgs } from "../../cni/cni-args.ts";
import { stringMember } from "../../cni/json-text.ts";
import { parseRequest, type AddRequest, type DelRequest } from "../../cni/verb.ts";
import type { DaemonConfig } from "../../config/daemon-config.ts";
import type { AttachmentRecord } from "../../state/journal/attachment-record.ts";
import type { Journal } from "../../state/journal/journal.ts";
import type { PodFacts } from "../../view/pod-facts.ts";
import type { View } from "../../view/view.ts";
import { keepsNetns, ownRecord, wantedChanges } from "../plug/wanted-networks.ts";
import { resultBody, type MultusAnswer } from "./multus-calls.ts";
import type { MultusRequest } from "./multus-request.ts";

export interface DelegateNeeds {
  readonly clock: Clock;
  readonly config: DaemonConfig;
  readonly journal: Pick<Journal, "forPod">;
  readonly view: View;
  /** Why this change of the attachment failed, while it has not succeeded since. */
  readonly plug: { failureOf(token: string, change: NetworkChange | undefined): LeveeError | undefined };
}

/** One attachment that a client of `/delegate` wants to come or to go. */
interface Wish {
  readonly verb: "ADD" | "DEL";
  readonly namespace: Namespace;
  readonly name: PodName;
  readonly uid: string | undefined;
  readonly ifname: string;
  /** The name in its configuration, or empty: a client does not tell the name of the definition. */
  readonly confName: string;
}

/** How things stand: done, on its way, or not asked for by the annotation. */
type Standing =
  | { readonly is: "done"; readonly body: string }
  | { readonly is: "coming"; readonly change: NetworkChange | undefined }
  | { readonly is: "unasked"; readonly reason: string };

const lookMs = 50;

/**
 * Serves `/delegate`. The client has seen that a pod's annotation changed, and so has Levee: hot-plug makes the change, once,
 * and the client gets its outcome. It cannot bring about anything that the annotation does not ask for (ADR 0041).
 */
export class Delegate {
  readonly #needs: DelegateNeeds;

  constructor(needs: DelegateNeeds) {
    this.#needs = needs;
  }

  async serve(request: MultusRequest, peerGone: AbortSignal): Promise<MultusAnswer> {
    const { clock, config } = this.#needs;
    if (!config.hotPlug)
      throw new LeveeError(
        "field-unsupported",
        "Cannot serve /delegate as hotPlug is off in the daemon's configuration",
      );
    const wish = wishOf(request);
    const beganMs = clock.monotonicMs();
    for (;;) {
      const standing = await this.#look(wish);
      if (standing.is === "done") return { status: 200, body: standing.body };
      const waitedMs = clock.monotonicMs() - beganMs;
      // The client's copy of the pod may be newer than ours.
      if (standing.is === "unasked" && waitedMs >= config.addLookupMs)
        throw new LeveeError("annotation-invalid", standing.reason);
      if (waitedMs >= config.addBudgetMs)
        throw new LeveeError("try-later", `Cannot wait longer for ${wish.ifname} of ${podText(wish)}; it goes on`);
      await clock.sleep(lookMs, peerGone);
    }
  }

  async #look(wish: Wish): Promise<Standing> {
    const { journal, view, plug } = this.#needs;
    const pod = await view.findPod(wish.namespace, wish.name);
    const record = pod === undefined ? undefined : ownRecord(pod, journal.forPod(wish.namespace, wish.name));
    if (pod === undefined || record === undefined || !isSame(pod, wish)) return absent(wish);
    const standing = this.#standing(wish, pod, record);
    const failure = standing.is === "coming" ? plug.failureOf(record.token, standing.change) : undefined;
    if (failure !== undefined) throw failure;
    return standing;
  }

  #standing(wish: Wish, pod: PodFacts, record: AttachmentRecord): Standing {
    const chain = record.chains.find((one) => one.ifname === wish.ifname && isNamed(one, wish));
    const changes = keepsNetns(pod) ? wantedChanges(pod, record, this.#needs.config) : [];
    const leaving = changes.find((change) => chain !== undefined && change.leaving.includes(chain));
    const joining = changes.find((change) => change.joining?.ifname === wish.ifname);
    if (record.plug !== undefined) return { is: "coming", change: wish.verb === "DEL" ? leaving : joining };
    if (wish.verb === "DEL") return chain === undefined ? { is: "done", body: "" } : onItsWay(leaving, wish);
    if (chain === undefined || leaving !== undefined) return onItsWay(joining, wish);
    return { is: "done", body: bodyOf(record, chain) };
  }
}

function wishOf({ call, config }: MultusRequest): Wish {
  const request = parseRequest({ ...call, cniPath: call.cniPath === "" ? "/" : call.cniPath });
  if (request.verb !== "ADD" && request.verb !== "DEL")
    throw new LeveeError("field-unsupported", `Cannot serve ${request.verb} by /delegate: it takes ADD and DEL`);
  const { namespace, name, uid } = podOf(request);
  return { verb: request.verb, namespace, name, uid, ifname: request.ifname, confName: stringMember(config, "name") };
}

function podOf({ verb, args }: AddRequest | DelRequest): Pick<Wish, "namespace" | "name" | "uid"> {
  const { namespace, name, uid } = podArgs(args);
  if (namespace !== undefined && name !== undefined) return { namespace, name, uid };
  throw new LeveeError(
    "env-invalid",
    `Cannot serve ${verb} by /delegate: CNI_ARGS must name the pod by K8S_POD_NAMESPACE and K8S_POD_NAME`,
  );
}

function isSame(pod: PodFacts, { uid }: Wish): boolean {
  return uid === undefined || uid === "" || pod.uid === "" || pod.uid === uid;
}

/** A pod that is gone has none of its interfaces any more. */
function absent(wish: Wish): Standing {
  return wish.verb === "DEL"
    ? { is: "done", body: "" }
    : { is: "unasked", reason: `Cannot attach ${wish.ifname} to ${podText(wish)}: Levee has not attached that pod` };
}

function onItsWay(change: NetworkChange | undefined, wish: Wish): Standing {
  if (change !== undefined) return { is: "coming", change };
  const { ifname } = wish;
  const reason =
    wish.verb === "ADD"
      ? `Cannot attach ${ifname} to ${podText(wish)}: its annotation does not ask for that interface; name it there`
      : `Cannot detach ${ifname} of ${podText(wish)}: its annotation still asks for it; take it out there`;
  return { is: "unasked", reason };
}

function isNamed({ confName }: Chain, wish: Wish): boolean {
  return wish.confName === "" || wish.confName === confName;
}

function bodyOf({ chains, results }: AttachmentRecord, chain: Chain): string {
  return resultBody(results[chains.indexOf(chain)] ?? ("{}" as JsonText), chain.cniVersion); // valid JSON
}

function podText({ namespace, name }: Wish): string {
  return `${namespace}/${name}`;
}
