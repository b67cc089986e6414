import type { Clock } from "../../base/clock.ts";
import { LeveeError } from "../../base/errors.ts";
import { sameNetns } from "../../base/identity.ts";
import { planAttachments } from "../../attachment/plan.ts";
import type { Chain } from "../../cni/chain.ts";
import type { AddRequest } from "../../cni/verb.ts";
import type { DaemonConfig } from "../../config/daemon-config.ts";
import { effectiveNetConf, type NetConf } from "../../config/net-conf.ts";
import type { AttachmentRecord } from "../../state/journal/attachment-record.ts";
import type { ChainReports } from "../chains/chain-reports.ts";
import type { Found, LookUp } from "../look-up/look-up.ts";
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
  readonly names: Pick<TakenNames, "refuse">;
}

/** Makes the record of an ADD: every chain with every byte its plugins will get. Nothing is done to the system. */
export class Planner {
  readonly #needs: PlannerNeeds;

  constructor(needs: PlannerNeeds) {
    this.#needs = needs;
  }

  async plan(call: Call, request: AddRequest, found: Found, reports: ChainReports): Promise<AttachmentRecord> {
    const { config, lookUp, accounts, names } = this.#needs;
    const [text] = await Promise.all([call.config(), refuseHostNetns(call, request)]);
    const conf = effectiveNetConf(text, config);
    accounts.seen(conf);
    const { wanted, networks } = await lookUp.behindLine(call, request, found, conf);
    reports.asksFor(wanted.definitions.keys(), networks.defaultElement !== undefined);
    const { runtimeConfig } = conf;
    const chains = planAttachments({ request, ...networks, runtimeConfig, deviceInfoDir: config.deviceInfoDir });
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

/** In the host's namespace, plugins would change the host's own interfaces. */
async function refuseHostNetns(call: Call, request: AddRequest): Promise<void> {
  const own = call.header.ownNetns ?? (await call.hand.stat(["/proc/self/ns/net"]))[0];
  if (sameNetns(own, call.header.netnsIdentity)) {
    throw new LeveeError(
      "env-invalid",
      `Cannot attach as CNI_NETNS is the network namespace of the host: current value is ${request.netns}`,
    );
  }
}

/** The runtime's CNI_PATH first, then the configured folder. */
function pathWithBinDir(cniPath: string, binDir: string): string {
  const folders = cniPath.split(":").filter((folder) => folder !== "");
  const path = (folders.includes(binDir) || binDir === "" ? folders : [...folders, binDir]).join(":");
  // Nearly always unchanged. Then the record keeps the text that all calls share.
  return path === cniPath ? cniPath : path;
}
