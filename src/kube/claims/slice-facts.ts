import type { SharedTexts } from "../../base/shared-texts.ts";
import type { AllocatedDevice, PublishedDevice } from "../../view/claim-view.ts";
import { objectOf, textOf } from "../client/json-fields.ts";
import type { Named } from "../watch/object-store.ts";
import { resourceGroup } from "./resource-claim.ts";

export const slicesPath = `${resourceGroup}/resourceslices`;

/** The attributes of Multus, which drivers set on devices for networks. */
const deviceIdAttribute = "k8s.cni.cncf.io/deviceID";
const resourceNameAttribute = "k8s.cni.cncf.io/resourceName";

/** A ResourceSlice with two texts per device: a whole one has up to 400 KB. */
export interface SliceFacts extends Named {
  readonly driver: string;
  readonly pool: string;
  /** Slices of an older generation than another one of their pool no longer count. */
  readonly generation: number;
  /** By name. Devices that are not for networks all share one value. */
  readonly devices: ReadonlyMap<string, PublishedDevice>;
}

const notForNetworks: PublishedDevice = Object.freeze({ deviceId: "", resourceName: "" });

/** Undefined for an object without a name. */
export function projectSlice(value: unknown, texts: SharedTexts): SliceFacts | undefined {
  const name = textOf(objectOf(objectOf(value)["metadata"])["name"]);
  const spec = objectOf(objectOf(value)["spec"]);
  const pool = objectOf(spec["pool"]);
  if (name === "") return undefined;
  const devices = Array.isArray(spec["devices"]) ? (spec["devices"] as readonly unknown[]) : [];
  return {
    namespace: "",
    name,
    driver: texts.share(textOf(spec["driver"])),
    pool: texts.share(textOf(pool["name"])),
    generation: typeof pool["generation"] === "number" ? pool["generation"] : 0,
    devices: new Map(devices.map((device) => [textOf(objectOf(device)["name"]), published(device, texts)])),
  };
}

function published(device: unknown, texts: SharedTexts): PublishedDevice {
  const attributes = objectOf(objectOf(device)["attributes"]);
  const text = (key: string): string => textOf(objectOf(attributes[key])["string"]);
  const [deviceId, resourceName] = [text(deviceIdAttribute), texts.share(text(resourceNameAttribute))];
  return deviceId === "" && resourceName === "" ? notForNetworks : { deviceId, resourceName };
}

export function sameSlice(left: SliceFacts, right: SliceFacts): boolean {
  return (
    left.driver === right.driver &&
    left.pool === right.pool &&
    left.generation === right.generation &&
    left.devices.size === right.devices.size &&
    [...left.devices].every(([name, one]) => {
      const other = right.devices.get(name);
      return other !== undefined && other.deviceId === one.deviceId && other.resourceName === one.resourceName;
    })
  );
}

/** A device of the newest generation of its pool. Of two slices that have it, the one that a list names last counts. */
export function deviceIn(slices: Iterable<SliceFacts>, wanted: AllocatedDevice): PublishedDevice | undefined {
  const ofPool = [...slices].filter(({ driver, pool }) => driver === wanted.driver && pool === wanted.pool);
  const newest = Math.max(...ofPool.map(({ generation }) => generation));
  const holders = ofPool.filter(
    ({ generation, devices }) => generation === newest && (devices.get(wanted.device)?.deviceId ?? "") !== "",
  );
  const [last] = holders.toSorted((left, right) => (left.name < right.name ? 1 : -1));
  const found = last ?? ofPool.find(({ devices }) => devices.has(wanted.device));
  return found?.generation === newest ? found.devices.get(wanted.device) : undefined;
}
