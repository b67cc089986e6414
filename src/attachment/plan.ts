import type { ContainerId, IfName, JsonText, NetworkName } from "../base/brand.ts";
import { LeveeError } from "../base/errors.ts";
import type { Chain, MultusOrigin, RouteEdit } from "../cni/chain.ts";
import { type CniArgs, pluginArgs } from "../cni/cni-args.ts";
import { jsonString, jsonValue } from "../cni/json-text.ts";
import type { NetworkConf } from "../cni/network-conf.ts";
import { present } from "../cni/present.ts";
import { checkCapabilities } from "./capability.ts";
import { chainParts } from "./chain-parts.ts";
import { planDefaultRoutes } from "./default-route.ts";
import { cniDeviceInfoFile, deviceInfoDirDefault } from "./device-info-file.ts";
import type { SelectionElement } from "./selection-element.ts";

/** A network's configuration, and the pod's device for it. */
export interface NetworkSource {
  readonly network: NetworkName;
  readonly conf: NetworkConf;
  /** Of its definition: the device's resource, and the pod's `CLAIM[/REQUEST]` that must have given it, or an empty text. */
  readonly resourceName?: string;
  readonly deviceRequest?: string;
  readonly resource?: { readonly resourceName: string; readonly deviceId: string };
}

export interface WantedNetwork {
  /** Absent for networks that every pod gets. */
  readonly element?: SelectionElement;
  readonly source: NetworkSource;
}

export interface PlanInput {
  readonly request: { readonly ifname: IfName; readonly args: CniArgs; readonly containerId?: ContainerId };
  readonly defaultNetwork: NetworkSource;
  /** Present when the pod chooses its default network by annotation. */
  readonly defaultElement?: SelectionElement;
  readonly others: readonly WantedNetwork[];
  /** Capability values from the runtime, as JSON text by capability name. */
  readonly runtimeConfig: Readonly<Record<string, JsonText>>;
  /** The folder for device-info files on the host. */
  readonly deviceInfoDir?: string;
}

/** Decides order, names, bytes and routes of a pod's attachments before the first plugin runs. */
export function planAttachments(input: PlanInput): readonly Chain[] {
  const wanted = [wantedDefault(input), ...input.others];
  const ifnames = chooseIfnames(wanted, input.request.ifname);
  const routes = planDefaultRoutes(wanted.map(({ element }) => element));
  return wanted.map((network, index) => {
    const isDefault = index === 0;
    // The default network gets its capability values from the runtime, so its element is not checked.
    if (!isDefault) checkCapabilities(network.source, network.element);
    return chainOf(network, input, { isDefault, ifname: at(ifnames, index), routes: at(routes, index) });
  });
}

interface Place {
  readonly isDefault: boolean;
  readonly ifname: IfName;
  readonly routes: RouteEdit;
}

function wantedDefault(input: PlanInput): WantedNetwork {
  const { defaultNetwork: source, defaultElement: element } = input;
  return element === undefined ? { source } : { element, source };
}

export function chainOf(wanted: WantedNetwork, input: PlanInput, place: Place): Chain {
  const { element, source } = wanted;
  const { conf } = source;
  if (conf.plugins.length === 0) {
    throw new LeveeError("config-invalid", `Cannot attach ${source.network}: its configuration has no plugins`);
  }
  return {
    network: source.network,
    confName: conf.name,
    ifname: place.ifname,
    cniVersion: conf.cniVersion,
    isDefault: place.isDefault,
    ...(element === undefined && !place.isDefault ? { isOfNode: true as const } : {}),
    cniArgs: pluginArgs(input.request.args, {
      ...present("mac", element?.mac),
      ...present("ips", element?.ips),
      // The runtime's addresses belong to its own interface; no other interface may get them.
      omit: place.isDefault ? [] : ["IP", "MAC", "GATEWAY"],
    }),
    ...chainParts(conf, {
      offered: declaredOnly(conf, offeredCapabilities(wanted, input, place)),
      cniArgs: element?.cniArgs,
      deviceId: source.resource?.deviceId,
      request: requestOf(wanted),
    }),
    disableCheck: conf.disableCheck,
    disableGC: conf.disableGC,
    routes: place.routes,
  };
}

/** The element's interface name, else the runtime's for the default network, else `net` and the index in the list. */
function chooseIfnames(wanted: readonly WantedNetwork[], runtimeIfname: IfName): IfName[] {
  const taken = new Map<string, NetworkName>();
  return wanted.map(({ element, source }, index) => {
    const ifname = element?.ifname ?? (index === 0 ? runtimeIfname : (`net${index}` as IfName)); // short, no odd characters
    const holder = taken.get(ifname);
    if (holder !== undefined) {
      throw new LeveeError(
        "interface-taken",
        `Cannot attach ${source.network} as ${ifname}: ${holder} has that interface name in the same pod; name another one in the annotation`,
      );
    }
    taken.set(ifname, source.network);
    return ifname;
  });
}

/**
 * Capability values on offer to the network's plugins. The runtime's values go to the default network only, as the
 * multi-net specification requires (7.5). Multus gives them to every network, which maps one host port to several
 * interfaces; Levee differs on purpose.
 */
function offeredCapabilities(wanted: WantedNetwork, input: PlanInput, place: Place): Record<string, JsonText> {
  const deviceId = wanted.source.resource?.deviceId ?? (place.isDefault ? undefined : wanted.element?.deviceId);
  const device = deviceId === undefined ? {} : deviceCapabilities(deviceId, wanted.source.network, input, place.ifname);
  return place.isDefault
    ? { ...input.runtimeConfig, ...device }
    : { ...elementCapabilities(wanted.element), ...device };
}

function elementCapabilities(element: SelectionElement | undefined): Record<string, JsonText> {
  if (element === undefined) return {};
  const { portMappings, bandwidth, ips, mac, infinibandGuid } = element;
  return {
    ...present("portMappings", portMappings),
    ...present("bandwidth", bandwidth),
    ...present("ips", ips === undefined ? undefined : jsonValue(ips)),
    ...present("mac", mac === undefined ? undefined : jsonString(mac)),
    ...present("infinibandGUID", infinibandGuid === undefined ? undefined : jsonString(infinibandGuid)),
  };
}

function deviceCapabilities(
  deviceId: string,
  network: NetworkName,
  input: PlanInput,
  ifname: IfName,
): Record<string, JsonText> {
  const { containerId } = input.request;
  if (containerId === undefined) return { deviceID: jsonString(deviceId) };
  const file = cniDeviceInfoFile(input.deviceInfoDir ?? deviceInfoDirDefault, { network, containerId, ifname });
  return { deviceID: jsonString(deviceId), CNIDeviceInfoFile: jsonString(file) };
}

/** Drops values that no plugin declares, because pod annotations alone may have 256 KiB. */
function declaredOnly(conf: NetworkConf, offered: Readonly<Record<string, JsonText>>): Record<string, JsonText> {
  const isDeclared = (name: string): boolean => conf.plugins.some((plugin) => plugin.capabilities[name] === true);
  return Object.fromEntries(Object.entries(offered).filter(([name]) => isDeclared(name)));
}

function requestOf({ element, source }: WantedNetwork): MultusOrigin["request"] {
  return {
    ...present("ifname", element?.ifname),
    ...present("mac", element?.mac),
    ...present("infinibandGuid", element?.infinibandGuid),
    ...present("ips", element?.ips),
    ...present("defaultRoute", element?.defaultRoute),
    ...present("deviceId", source.resource?.deviceId ?? element?.deviceId),
    ...present("resourceName", source.resource?.resourceName),
  };
}

function at<Item>(list: readonly Item[], index: number): Item {
  const item = list[index];
  if (item === undefined)
    throw new LeveeError("internal", `Cannot plan attachments: nothing at place ${index} of ${list.length}`);
  return item;
}
