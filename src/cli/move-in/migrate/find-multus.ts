import { findLevee } from "./check-levee.ts";
import {
  valueIn,
  containersOf,
  kindOf,
  listIn,
  nameOf,
  namespaceOf,
  podSpecOf,
  textIn,
  type KubeObject,
} from "../../kube-object.ts";

/** An installed Multus, as its DaemonSet describes it. */
export interface MultusInstall {
  readonly daemonSet: KubeObject;
  readonly isThick: boolean;
  /** Such as `4.2.2`; undefined if the image's tag does not say. */
  readonly version: string | undefined;
  readonly image: string;
  /** The ConfigMap with its settings; undefined for the thin plugin. */
  readonly config: { readonly namespace: string; readonly name: string } | undefined;
}

const settingsFolder = "/etc/cni/net.d/multus.d";

/** Leaves out DaemonSets that already run Levee, whose image path may contain "multus". */
export function findMultus(objects: readonly KubeObject[]): readonly MultusInstall[] {
  const levees = new Set(findLevee(objects));
  return objects
    .filter((object) => kindOf(object) === "DaemonSet" && !levees.has(object) && isMultus(object))
    .map(describe);
}

/** The controller that adds networks to running pods through Multus' `/delegate`. */
export function isDynamicNetworks(object: KubeObject): boolean {
  return [...imagesOf(object), textIn(object, "metadata", "name")].some((text) => /dynamic-networks/u.test(text));
}

/** OpenShift's network operator owns it. Its image has no recognizable name. */
export function isOpenShiftMultus(object: KubeObject): boolean {
  return kindOf(object) === "DaemonSet" && nameOf(object) === "openshift-multus/multus";
}

function isMultus(object: KubeObject): boolean {
  if (isOpenShiftMultus(object)) return false;
  const isNamed = imagesOf(object).some((image) => /multus(?!-dynamic)/u.test(image));
  return isNamed && !isDynamicNetworks(object);
}

function imagesOf(object: KubeObject): readonly string[] {
  return containersOf(object).map((container) => textIn(container, "image"));
}

function describe(daemonSet: KubeObject): MultusInstall {
  const image = imagesOf(daemonSet).find((each) => each.includes("multus")) ?? "";
  const config = settingsOf(daemonSet);
  const words = containersOf(daemonSet).flatMap((container) => listIn(container, "command"));
  const isThick = image.includes("thick") || words.some((word) => String(word).endsWith("multus-daemon"));
  return { daemonSet, image, config, isThick, version: /:v?(\d+\.\d+\.\d+)/u.exec(image)?.[1] };
}

/** The ConfigMap that is mounted where Multus reads daemon-config.json. */
function settingsOf(daemonSet: KubeObject): MultusInstall["config"] {
  const mounts = containersOf(daemonSet).flatMap((container) => listIn(container, "volumeMounts"));
  const mount = mounts.find((each) => textIn(each, "mountPath").replace(/\/$/u, "") === settingsFolder);
  const volume = listIn(podSpecOf(daemonSet), "volumes").find((each) => textIn(each, "name") === textIn(mount, "name"));
  const name = textIn(volume, "configMap", "name");
  return mount === undefined || name === "" ? undefined : { namespace: namespaceOf(daemonSet), name };
}

/** The host's folder at a mount path of the pod. */
export function hostFolderAt(daemonSet: KubeObject, mountPath: string): string | undefined {
  const mounts = containersOf(daemonSet).flatMap((container) => listIn(container, "volumeMounts"));
  const mount = mounts.find((each) => textIn(each, "mountPath") === mountPath);
  if (mount === undefined) return undefined;
  const volume = listIn(podSpecOf(daemonSet), "volumes").find((each) => textIn(each, "name") === textIn(mount, "name"));
  const path = valueIn(volume, "hostPath", "path");
  return typeof path === "string" ? path : undefined;
}
