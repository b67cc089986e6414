import type { Clock } from "../../base/clock.ts";
import { planAttachments } from "../../attachment/plan.ts";
import type { Chain } from "../../cni/chain.ts";
import type { AddRequest } from "../../cni/verb.ts";
import type { DaemonConfig } from "../../config/daemon-config.ts";
import { effectiveNetConf, type NetConf } from "../../config/net-conf.ts";
import type { Hand } from "../../hands/hand.ts";
import type { AttachmentRecord } from "../../state/journal/attachment-record.ts";
import type { ChainReports } from "../chains/chain-reports.ts";
import type { Found, LookUp } from "../look-up/look-up.ts";
import type { PodRequest } from "../look-up/pod-request.ts";
import { recordedPod } from "../record/subject.ts";
import type { Call } from "../serve/call.ts";
import type { TakenNames } from "../undo/taken-names.ts";
import type { PodAccounts } from "./pod-account.ts";
import type { PodFacts } from "../../view/pod-facts.ts";

export interface PlannerNeeds {
  readonly clock: Clock;
  readonly config: DaemonConfig;
  readonly bootId: string;
  readonly lookUp: Pick<LookUp, "behindLine">;
  readonly accounts: Pick<PodAccounts, "seen">;
  readonly networkGate: {
    refuse(hand: Hand, chains: readonly Chain[], known: PodRequest["definitions"]): Promise<void>;
  };
  readonly names: Pick<TakenNames, "refuse" | "refuseHost">;
}

/** Makes the record of an ADD: every chain with every byte its plugins will get. Nothing is done to the system. */
export class Planner {
  readonly #needs: PlannerNeeds;

  constructor(needs: PlannerNeeds) {
    this.#needs = needs;
  }

  async plan(call: Call, request: AddRequest, found: Found, reports: ChainReports): Promise<AttachmentRecord> {
    const { config, lookUp, accounts, names, networkGate } = this.#needs;
    const [text] = await Promise.all([call.config(), names.refuseHost(call)]);
    const conf = effectiveNetConf(text, config);
    accounts.seen(conf);
    const { wanted, networks } = await lookUp.behindLine(call, request, found, conf);
    reports.asksFor(wanted.definitions.keys(), networks.defaultElement !== undefined);
    const { runtimeConfig } = conf;
    const chains = planAttachments({ request, ...networks, runtimeConfig, deviceInfoDir: config.deviceInfoDir });
    await networkGate.refuse(call.hand, chains, wanted.definitions);
    await names.refuse(call, new Set(chains.map((chain) => chain.ifname)));
    return this.#record(call, request, { conf, chains, pod: wanted.pod });
  }

  #record(
    call: Call,
    request: AddRequest,
    { conf, chains, pod }: { conf: NetConf; chains: readonly Chain[]; pod: PodFacts | undefined },
  ): AttachmentRecord {
    return {
      token: call.token,
      containerId: request.containerId,
      ifname: request.ifname,
      netns: { path: request.netns, identity: call.header.netnsIdentity },
      bootId: this.#needs.bootId,
      pod: recordedPod(request.args, pod),
      cniPath: pathWithBinDir(request.cniPath, conf.binDir),
      // The daemon's own setting must not change the version of the runtime's result.
      cniVersion: conf.callVersion,
      hand: call.hand.identity,
      startedWallMs: this.#needs.clock.wallMs(),
      chains,
      phase: "intent",
      steps: new Map(),
      results: [],
      failure: undefined,
      delAttempts: 0,
      origin: "levee",
    };
  }
}

/** The runtime's CNI_PATH first, then the configured folder. */
function pathWithBinDir(cniPath: string, binDir: string): string {
  const folders = cniPath.split(":").filter((folder) => folder !== "");
  const path = (folders.includes(binDir) || binDir === "" ? folders : [...folders, binDir]).join(":");
  // Nearly always unchanged. Then the record keeps the text that all calls share.
  return path === cniPath ? cniPath : path;
}
