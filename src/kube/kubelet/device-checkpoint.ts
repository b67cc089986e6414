import { LeveeError } from "../../base/errors.ts";
import { readRegularFile } from "../../base/regular-file.ts";
import type { AllottedDevices } from "./pod-resources.ts";

/** The file of a node with hundreds of pods has some hundred KiB. */
const checkpointBytesMax = 16 * 1_024 * 1_024;

/** Reads the kubelet's own checkpoint of allotted devices, for kubelets without a PodResources socket. */
export async function checkpointDevices(path: string, podUid: string): Promise<AllottedDevices> {
  const text = await readRegularFile(path, { bytesMax: checkpointBytesMax, followLinks: true });
  return devicesOfCheckpoint(text.toString("utf8"), podUid, path);
}

export function devicesOfCheckpoint(text: string, podUid: string, path: string): AllottedDevices {
  const devices = new Map<string, string[]>();
  for (const entry of entriesOf(text, path)) {
    const { PodUID, ResourceName, DeviceIDs } = entry as Record<string, unknown>; // each is checked below
    if (PodUID !== podUid || typeof ResourceName !== "string") continue;
    devices.set(ResourceName, [...(devices.get(ResourceName) ?? []), ...idsOf(DeviceIDs)]);
  }
  for (const ids of devices.values()) ids.sort();
  return devices;
}

function entriesOf(text: string, path: string): readonly object[] {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new LeveeError("decode-failed", `Cannot read the kubelet's device checkpoint ${path}: it is not JSON`, {
      cause,
    });
  }
  const data = (value as { Data?: { PodDeviceEntries?: unknown } } | null)?.Data; // checked on the next lines
  const entries = data?.PodDeviceEntries ?? [];
  if (data !== undefined && Array.isArray(entries))
    return entries.filter((entry): entry is object => typeof entry === "object" && entry !== null);
  throw new LeveeError("decode-failed", `Cannot read the kubelet's device checkpoint ${path}: it has no entries`);
}

/** By NUMA node since Kubernetes 1.20, a plain list before. */
function idsOf(ids: unknown): readonly string[] {
  const lists: readonly unknown[] =
    typeof ids === "object" && ids !== null && !Array.isArray(ids) ? Object.values(ids) : [ids];
  return lists.flatMap((list) =>
    Array.isArray(list) ? list.filter((id): id is string => typeof id === "string") : [],
  );
}
