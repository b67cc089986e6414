import type { ContainerId, IfName, NetworkName } from "../base/brand.ts";

/** Where device plugins, CNI plugins and Multus have agreed to leave their device-info files. */
export const deviceInfoDirDefault = "/var/run/k8s.cni.cncf.io/devinfo";

/** The file in which a device plugin describes a device that it gave out. */
export function pluginDeviceInfoFile(folder: string, resourceName: string, deviceId: string): string {
  return `${folder}/dp/${flat(resourceName)}-${flat(deviceId)}-device.json`;
}

/** The file of one attachment: first a copy of the device plugin's, then whatever the CNI plugin makes of it. */
export function cniDeviceInfoFile(
  folder: string,
  place: { readonly network: NetworkName; readonly containerId: ContainerId; readonly ifname: IfName },
): string {
  return `${folder}/cni/${flat(place.network)}-${place.containerId}_${place.ifname}`;
}

/** Names contain slashes, file names cannot; what would lead out of the folder cannot be built without them. */
function flat(name: string): string {
  return name.replaceAll("/", "-");
}
