import { asJsonText } from "../../cni/json-text.ts";
import type { NetworkConf } from "../../cni/network-conf.ts";
import { effectiveNetConf } from "../../config/net-conf.ts";
import type { Hand } from "../../hands/hand.ts";
import { canaryCheck, handCheck } from "../../readiness/hand-rules.ts";
import { networksCheck } from "../../readiness/network-rules.ts";
import { RebootSince } from "../../state/reboot-since.ts";
import { Canary } from "./canary.ts";
import { loadConfPath } from "../look-up/conf-files.ts";
import { registerCanary, registerNetworks } from "../metrics/watch-metrics.ts";
import { NetworkWatch } from "./network-readiness.ts";
import { primaryNetwork } from "../look-up/networks.ts";
import { pluginFolders } from "./plugin-folders.ts";
import { RebootWatch } from "./reboot-watch.ts";
import type { Service } from "../service.ts";
import type { ServiceOptions } from "../service-options.ts";

/** Starts what the resident hand looks at for us: whether plugins run here, which networks can be attached, whether the node wants a reboot. */
export function startNodeWatch(options: ServiceOptions): Service {
  const { ports, reception } = options;
  const { checks, metrics, recovery } = ports;
  const resident = (): { readonly hand: Hand; readonly sinceWallMs: number } | undefined =>
    recovery.residents.find(({ hand }) => !hand.isLost);
  const canary = new Canary({
    clock: ports.clock,
    resident,
    folders: (hand) => pluginFolders(ports, hand),
  });
  const networks = new NetworkWatch({
    ports,
    nodeName: reception.nodeName,
    resident: () => resident()?.hand,
    pluginFolders: (hand) => pluginFolders(ports, hand).folders,
    primary: () => primaryConf(options),
  });
  checks.networks = () => networks.networks();
  checks.networksAgeMs = () => networks.ageMs();
  checks.add(() => {
    const hand = canary.facts();
    return [handCheck(hand), canaryCheck(hand), networksCheck(networks.networks())];
  });
  registerCanary(metrics, canary);
  registerNetworks(metrics, networks);
  const reboot = new RebootWatch({
    ...ports,
    nodeName: reception.nodeName,
    resident: () => resident()?.hand,
    since: new RebootSince(ports.config.stateDir, ports.bootId),
  });
  return {
    stop: async () => {
      canary.stop();
      reboot.stop();
      await networks.stop();
    },
  };
}

/** Without a call to tell, the primary network is the one of the settings, or of the conf directory. */
async function primaryConf({ ports, confDir }: ServiceOptions): Promise<NetworkConf | undefined> {
  const { config } = ports;
  const path = confDir?.facts().primary;
  if (path !== undefined) return loadConfPath(path);
  if (config.clusterNetwork === "" && config.delegates.length === 0) return undefined;
  const conf = effectiveNetConf(asJsonText("{}", "an empty configuration"), config);
  return (await primaryNetwork(conf, ports)).conf;
}
