import type { ContainerId, IfName, NetworkName } from "../base/brand.ts";

/** The folder for device-info files that device plugins, CNI plugins and Multus agreed on. */
export const deviceInfoDirDefault = "/var/run/k8s.cni.cncf.io/devinfo";

/** The file in which a device plugin describes an allocated device. */
export function pluginDeviceInfoFile(folder: string, resourceName: string, deviceId: string): string {
  return `${folder}/dp/${flat(resourceName)}-${flat(deviceId)}-device.json`;
}

/** The file of one attachment: first a copy of the device plugin's file, which the CNI plugin may then change. */
export function cniDeviceInfoFile(
  folder: string,
  place: { readonly network: NetworkName; readonly containerId: ContainerId; readonly ifname: IfName },
): string {
  return `${folder}/cni/${flat(place.network)}-${place.containerId}_${place.ifname}`;
}

/** File names cannot contain slashes, and a path out of the folder needs one. */
function flat(name: string): string {
  return name.replaceAll("/", "-");
}
