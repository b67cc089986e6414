import type { JsonText, Namespace, NetworkName } from "../../base/brand.ts";
import { LeveeError, toLeveeError } from "../../base/errors.ts";
import { checkIsolation } from "../../attachment/isolation.ts";
import type { NetworkSource } from "../../attachment/plan.ts";
import { defaultNetworkOf, type SelectionElement } from "../../attachment/selection.ts";
import { JsonGrammarError } from "../../cni/json-grammar.ts";
import type { NetworkConf } from "../../cni/network-conf.ts";
import type { NetConf } from "../../config/net-conf.ts";
import { auxiliaryChain } from "./auxiliary-chain.ts";
import { findConfByName, hasConfs } from "./conf-files.ts";
import type { ConfCache } from "./conf-cache.ts";
import { definitionOf, unreadText, type NetworkLookup, type PodRequest } from "./pod-request.ts";
import { deviceRequestAnnotation, resourceNameAnnotation } from "../../base/annotations.ts";
import type { NetworkDefinition } from "../../view/network-definition.ts";
import type { PodFacts } from "../../view/pod-facts.ts";

/** Every network of one pod, in the order in which they are attached. */
export interface PodNetworks {
  readonly defaultNetwork: NetworkSource;
  readonly others: readonly { readonly element?: SelectionElement; readonly source: NetworkSource }[];
  /** The element of the default-network annotation, if the pod has one. */
  readonly defaultElement?: SelectionElement;
}

/** Where definitions are found and parsed. */
export interface NetworkSources {
  readonly view: NetworkLookup;
  readonly confs: ConfCache;
}

/** Whether any network needs a device. Few do. */
export function needsDevices({ defaultNetwork, others }: PodNetworks): boolean {
  return [defaultNetwork, ...others.map(({ source }) => source)].some(({ resourceName }) => resourceName !== undefined);
}

/** Resolves every network to a configuration: the default one first, then the node's, then the pod's. */
export async function resolveNetworks(
  request: PodRequest,
  conf: NetConf,
  sources: NetworkSources,
): Promise<PodNetworks> {
  const [master, ...nodeNetworks] = await networksOfConf(request.pod, conf, sources);
  const override =
    request.pod === undefined ? undefined : defaultNetworkOf(request.pod.annotations, conf.multusNamespace);
  const defaultNetwork =
    override === undefined ? master : await sourceOf(await definitionOf(override, sources.view), conf, sources);
  if (defaultNetwork === undefined) throw noDefaultNetwork();
  if (request.pod !== undefined)
    checkIsolation(
      { isEnabled: conf.namespaceIsolation, globalNamespaces: conf.globalNamespaces },
      request.pod.namespace,
      request.elements,
    );
  const others: { element?: SelectionElement; source: NetworkSource }[] = nodeNetworks.map((source) => ({ source }));
  for (const element of request.elements) {
    const definition = request.definitions.get(`${element.namespace}/${element.name}`);
    if (definition !== undefined) others.push({ element, source: await sourceOf(definition, conf, sources) });
  }
  if (conf.auxiliaryCNIChainName !== "") others.push(...(await auxiliaryChain(conf)));
  return { defaultNetwork, others, ...(override === undefined ? {} : { defaultElement: override }) };
}

/** The node's own default network, which STATUS asks about. A pod may choose another one. */
export async function primaryNetwork(conf: NetConf, sources: NetworkSources): Promise<NetworkSource> {
  const [master] = await networksOfConf(undefined, conf, sources);
  if (master === undefined) throw noDefaultNetwork();
  return master;
}

async function networksOfConf(
  pod: PodFacts | undefined,
  conf: NetConf,
  sources: NetworkSources,
): Promise<readonly NetworkSource[]> {
  if (conf.clusterNetwork === "") return conf.delegates.map((text, index) => inlineNetwork(text, index, sources));
  const isSystem = pod !== undefined && conf.systemNamespaces.includes(pod.namespace);
  const names = [conf.clusterNetwork, ...(isSystem || pod === undefined ? [] : conf.defaultNetworks)];
  return Promise.all(names.map((name) => nodeNetwork(name, conf, sources)));
}

function inlineNetwork(text: JsonText, index: number, sources: NetworkSources): NetworkSource {
  const conf = sources.confs.parse(text, { what: `delegates[${index}]` });
  return { network: conf.name as NetworkName, conf };
}

/** A network named in the configuration: a path, a definition in Multus' namespace, or a file with that name. */
async function nodeNetwork(name: string, conf: NetConf, sources: NetworkSources): Promise<NetworkSource> {
  if (name.includes("/")) {
    const loaded = await sources.confs.files.load(name);
    return { network: loaded.name as NetworkName, conf: loaded };
  }
  return namedNetwork(conf.multusNamespace, name, conf, sources);
}

async function namedNetwork(
  namespace: Namespace,
  name: string,
  conf: NetConf,
  sources: NetworkSources,
): Promise<NetworkSource> {
  // A file of the node goes first, so that the server is not asked for it with every pod, nor waited for when away.
  if (sources.view.findKnown !== undefined && (await sources.view.findKnown(namespace, name)) === undefined) {
    const known = await findConfByName(conf.confDir, name);
    if (known !== undefined) return { network: known.name as NetworkName, conf: known };
  }
  let trouble: LeveeError | undefined;
  const definition = await sources.view.findNetwork(namespace, name).catch((thrown: unknown) => {
    trouble = toLeveeError(thrown, "Cannot find a network");
    return undefined;
  });
  if (definition !== undefined) return sourceOf(definition, conf, sources);
  const fromFile = await findConfByName(conf.confDir, name);
  if (fromFile !== undefined) return { network: fromFile.name as NetworkName, conf: fromFile };
  // Without an answer of the server it is unknown whether the network exists.
  if (trouble !== undefined) throw trouble;
  throw new LeveeError(
    "network-unknown",
    `Cannot find the network ${name}: there is no definition ${namespace}/${name}, and no configuration with that name in ${conf.confDir}${unreadText(sources.view)}`,
  );
}

/** The configuration in the definition, or the file with its name in confDir (NPWG 3.4.1). */
export async function sourceOf(
  definition: NetworkDefinition,
  conf: NetConf,
  sources: NetworkSources,
): Promise<NetworkSource> {
  const network = `${definition.namespace}/${definition.name}` as NetworkName;
  const what = `the NetworkAttachmentDefinition ${network}`;
  const resource = resourceOf(definition);
  if (definition.config !== undefined && definition.config !== "") {
    return {
      network,
      ...resource,
      conf: parseSpec(definition.config, { what, defaultName: definition.name }, sources),
    };
  }
  const fromFile = await findConfByName(conf.confDir, definition.name);
  if (fromFile === undefined) {
    const found = (await hasConfs(conf.confDir))
      ? `no network available in the name ${definition.name} in cni dir ${conf.confDir}`
      : `No networks found in ${conf.confDir}`;
    throw new LeveeError(
      "network-unknown",
      `Cannot use ${what}, whose spec is empty: GetCNIConfig: err in GetCNIConfigFromFile: ${found}`,
    );
  }
  return { network, ...resource, conf: fromFile };
}

function parseSpec(
  text: string,
  options: { what: string; defaultName: string },
  { confs }: NetworkSources,
): NetworkConf {
  try {
    return confs.parse(text, options);
  } catch (thrown) {
    if (!(thrown instanceof LeveeError) || !(thrown.cause instanceof JsonGrammarError)) throw thrown;
    const { message, offset } = thrown.cause;
    throw new LeveeError(
      "decode-failed",
      `Cannot use ${options.what}: GetCNIConfig: err in getCNIConfigFromSpec: failed to unmarshal Spec.Config: ${message}, at offset ${offset}`,
      { cause: thrown },
    );
  }
}

function resourceOf({ annotations }: NetworkDefinition): Pick<NetworkSource, "resourceName" | "deviceRequest"> {
  const resourceName = annotations[resourceNameAnnotation] ?? "";
  return resourceName === "" ? {} : { resourceName, deviceRequest: annotations[deviceRequestAnnotation] ?? "" };
}

function noDefaultNetwork(): LeveeError {
  return new LeveeError(
    "not-ready",
    "Cannot determine the default network: the configuration has neither clusterNetwork nor delegates",
  );
}
