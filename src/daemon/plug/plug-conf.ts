import type { JsonText } from "../../base/brand.ts";
import { LeveeError } from "../../base/errors.ts";
import { readRegularFile } from "../../base/regular-file.ts";
import { foldKey } from "../../cni/fold-key.ts";
import { asJsonText, jsonBytesMax } from "../../cni/json-text.ts";
import type { DaemonConfig } from "../../config/daemon-config.ts";
import { installsConf } from "../../config/installs-conf.ts";
import { effectiveNetConf, type NetConf } from "../../config/net-conf.ts";

export interface PlugConfNeeds {
  readonly config: DaemonConfig;
  /** The newest configuration of any call; undefined until one came. */
  readonly lastConf: () => NetConf | undefined;
}

const isolationKey = foldKey("namespaceIsolation");

/**
 * The settings that hold for a pod that is attached already. They come with each call, and a change of a running pod
 * has none. In doubt nothing is attached: only the call's conf may say that namespaces are isolated.
 */
export async function plugConf({ config, lastConf }: PlugConfNeeds): Promise<NetConf> {
  const known = lastConf();
  if (known !== undefined) return known;
  const given = config.multusConfigFile;
  const isOurs = installsConf(config);
  // A generated conf has none of these settings: the daemon's own count.
  const saysItself = config.rawOverlay.some(({ key }) => foldKey(key) === isolationKey);
  if ((isOurs && given === "auto") || saysItself) return effectiveNetConf("{}" as JsonText, config); // valid JSON
  if (isOurs) {
    const bytes = await readRegularFile(given, { bytesMax: jsonBytesMax, followLinks: true });
    return effectiveNetConf(asJsonText(bytes, given), config);
  }
  throw new LeveeError(
    "try-later",
    "Cannot attach a network to a running pod yet: the runtime's conf may isolate namespaces, and no call has come with it since the daemon started; set namespaceIsolation in the daemon's configuration to say it there",
  );
}
