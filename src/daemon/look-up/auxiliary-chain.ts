import { dirname, join } from "node:path";
import type { NetworkName } from "../../base/brand.ts";
import { LeveeError } from "../../base/errors.ts";
import type { NetworkSource } from "../../attachment/plan.ts";
import { asJsonText, jsonString, jsonValue } from "../../cni/json-text.ts";
import { appendPlugins, parseNetworkConf } from "../../cni/network-conf.ts";
import type { NetConf } from "../../config/net-conf.ts";
import { subFolderTexts } from "./conf-files.ts";

/** Multus' auxiliary chain: extra plugins of the node. They run last, after a plugin that changes nothing. */
export async function auxiliaryChain(conf: NetConf): Promise<readonly { readonly source: NetworkSource }[]> {
  const name = conf.auxiliaryCNIChainName;
  if (!conf.clusterNetwork.includes("/")) {
    throw new LeveeError(
      "config-invalid",
      `auxiliary chain used but ClusterNetwork must be a path, and it is not a path: ${conf.clusterNetwork}`,
    );
  }
  const texts = await subFolderTexts(join(dirname(conf.clusterNetwork), name));
  if (texts.length === 0) return [];
  const passthru = jsonValue([{ type: "passthru", name: "passthru-cni" }]);
  const text = asJsonText(
    `{"cniVersion":${jsonString(conf.cniVersion)},"name":${jsonString(name)},"plugins":${passthru}}`,
    `the auxiliary chain ${name}`,
  );
  const chain = appendPlugins(parseNetworkConf(text, { what: `the auxiliary chain ${name}` }), texts);
  return [{ source: { network: name as NetworkName, conf: chain } }];
}
