import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/log.ts";
import { asJsonText } from "../../cni/json-text.ts";
import type { NetworkConf } from "../../cni/network-conf.ts";
import type { DaemonConfig } from "../../config/daemon-config.ts";
import { effectiveNetConf } from "../../config/net-conf.ts";
import type { Hand } from "../../hands/hand.ts";
import type { StandIns } from "../../hands/stand-ins.ts";
import { builtinCheck } from "../../readiness/builtin-rule.ts";
import { canaryCheck, handCheck } from "../../readiness/hand-rules.ts";
import { networksCheck } from "../../readiness/network-rules.ts";
import type { Journal } from "../../state/journal/journal.ts";
import { RebootSince } from "../../state/reboot-since.ts";
import type { View } from "../../view/view.ts";
import type { ConfCache } from "../look-up/conf-cache.ts";
import { loadConfPath } from "../look-up/conf-files.ts";
import { primaryNetwork } from "../look-up/networks.ts";
import type { MetricsRegistry } from "../metrics/metrics-registry.ts";
import { registerCanary, registerNetworks } from "../metrics/watch-metrics.ts";
import type { Service } from "../service.ts";
import type { EventTeller } from "../tell/event-teller.ts";
import type { ResidentHand } from "../undo/residents.ts";
import { Canary } from "./canary.ts";
import type { NetworkGate } from "./network-gate.ts";
import { interfaceAddresses } from "./host-addresses.ts";
import { NetworkWatch } from "./network-watch.ts";
import type { NodeChecks } from "./node-checks.ts";
import { pluginFolders } from "./plugin-folders.ts";
import { RebootWatch } from "./reboot-watch.ts";

interface NodeWatchNeeds {
  readonly clock: Clock;
  readonly config: DaemonConfig;
  readonly logger: Logger;
  readonly bootId: string;
  readonly nodeName: string;
  readonly journal: Pick<Journal, "all">;
  readonly networks: { readonly view: View; readonly confs: ConfCache };
  readonly eventTeller: EventTeller;
  readonly shown: {
    readonly checks: NodeChecks;
    readonly metrics: MetricsRegistry;
    readonly networkGate: NetworkGate;
  };
  readonly standIns: Pick<StandIns, "choice" | "judged" | "absent">;
  readonly resident: () => ResidentHand | undefined;
  /** The primary network's file, if the conf directory knows it. */
  readonly primaryPath: () => string | undefined;
}

/** Starts the watches that use the resident hand: do plugins run, which networks work, does the node need a reboot. */
export function startNodeWatch(needs: NodeWatchNeeds): Service {
  const { clock, config, logger, bootId, nodeName, journal, eventTeller, resident, standIns } = needs;
  const { checks, metrics, networkGate } = needs.shown;
  const hand = (): Hand | undefined => resident()?.hand;
  const canary = new Canary({ clock, resident, folders: (asked) => pluginFolders({ config, journal }, asked) });
  const networks = new NetworkWatch({
    clock,
    config,
    logger,
    journal,
    eventTeller,
    nodeName,
    view: needs.networks.view,
    resident: hand,
    pluginFolders: (asked) => pluginFolders({ config, journal }, asked).folders,
    primary: () => primaryConf(needs),
    hostAddresses: interfaceAddresses,
  });
  networkGate.source = networks;
  checks.networks = () => networks.networks();
  checks.wordOn = (network) => networks.wordOn(network);
  checks.networksAgeMs = () => networks.ageMs();
  checks.add(() => {
    const facts = canary.facts();
    const plugins = builtinCheck({ choice: standIns.choice, judged: standIns.judged(), absent: standIns.absent() });
    return [handCheck(facts), canaryCheck(facts), plugins, networksCheck(networks.networks())];
  });
  registerCanary(metrics, canary);
  registerNetworks(metrics, networks);
  const since = new RebootSince(config.stateDir, bootId);
  const reboot = new RebootWatch({ clock, logger, metrics, nodeName, resident: hand, since });
  return {
    stop: async () => {
      canary.stop();
      reboot.stop();
      await networks.stop();
    },
  };
}

/** Without a call, the conf directory or the settings name the primary network. */
async function primaryConf({ config, networks, primaryPath }: NodeWatchNeeds): Promise<NetworkConf | undefined> {
  const path = primaryPath();
  if (path !== undefined) return loadConfPath(path);
  if (config.clusterNetwork === "" && config.delegates.length === 0) return undefined;
  const conf = effectiveNetConf(asJsonText("{}", "an empty configuration"), config);
  return (await primaryNetwork(conf, networks)).conf;
}
