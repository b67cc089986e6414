import { checkLevee, findLevee } from "./check-levee.ts";
import { checkOwnership } from "./check-ownership.ts";
import type { Finding, Level } from "./finding.ts";
import { hostFolderAt, isDynamicNetworks, isOpenShiftMultus, type MultusInstall } from "./find-multus.ts";
import {
  valueIn,
  containersOf,
  kindOf,
  listIn,
  nameOf,
  namespaceOf,
  podSpecOf,
  textIn,
  titleOf,
  type KubeObject,
} from "../../kube-object.ts";

/** Our tests move from these versions; other 4.2 versions keep the same files. */
const testedVersions = ["4.2.2", "4.3.0"] as const;
const dropInName = "kube-system/kube-multus-ds";

/** Checks what is installed, and whether the drop-in's manifest replaces it. */
export function checkMultus(objects: readonly KubeObject[], installs: readonly MultusInstall[]): readonly Finding[] {
  const levees = findLevee(objects);
  const operated = objects.filter(isOpenShiftMultus).map(openShift);
  const own = installs.flatMap((install) =>
    install.isThick
      ? [...checkVersion(install), ...checkNames(install), ...checkOwnership(install), ...checkFolders(install)]
      : [thin(install)],
  );
  const all = [...checkLevee(levees), ...operated, ...own];
  if (all.length > 0) return all;
  return [
    found("blocks", "the cluster", "no DaemonSet of Multus was found", "install Levee anew instead: docs/install.md"),
  ];
}

function openShift(object: KubeObject): Finding {
  return found(
    "blocks",
    titleOf(object),
    "it is OpenShift's own Multus, and the cluster's network operator reverts any change to it",
    "switch it off and install Levee with the overlay for OpenShift: docs/install.md",
  );
}

function thin(install: MultusInstall): Finding {
  const away = isRke2(install)
    ? "then remove multus from cni: in RKE2's configuration, or RKE2 restores it, and the 00-multus.conf on each node"
    : "then remove this DaemonSet and its 00-multus.conf on each node";
  return found(
    "blocks",
    titleOf(install.daemonSet),
    `it is the thin plugin (${install.image})${isRke2(install) ? " that RKE2 packages" : ""}, which the drop-in does not replace`,
    `install Levee beside it with the release's install.yaml, ${away}`,
  );
}

/** RKE2's own chart names the DaemonSet after its release: rke2-multus, in earlier releases rke2-multus-ds. */
function isRke2({ daemonSet }: MultusInstall): boolean {
  return /^kube-system\/rke2-multus(?:-ds)?$/u.test(nameOf(daemonSet));
}

function checkVersion({ daemonSet, version, image }: MultusInstall): readonly Finding[] {
  const object = titleOf(daemonSet);
  if (version === undefined)
    return [
      found(
        "look",
        object,
        `the version cannot be told from the image ${image}; moving is tested from ${testedVersions.join(" and ")}`,
        `kubectl -n ${namespaceOf(daemonSet)} exec ds/${textIn(daemonSet, "metadata", "name")} -- /usr/src/multus-cni/bin/multus-daemon -version`,
      ),
    ];
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const isNear = major === 4 && (minor === 2 || minor === 3);
  if (isNear) return [found("ok", object, `the thick plugin, version ${version}`)];
  return [
    found(
      "differs",
      object,
      `version ${version}; moving is tested from ${testedVersions.join(" and ")}`,
      "try it on one node first: docs/migrate.md",
    ),
  ];
}

/** kubectl apply replaces only an object of the same name, and refuses another selector. */
function checkNames(install: MultusInstall): readonly Finding[] {
  const { daemonSet } = install;
  const object = titleOf(daemonSet);
  const copy = "make a copy of the release's multus-drop-in.yaml with this cluster's names, and apply that";
  const remedy = isRke2(install)
    ? `remove multus from cni: in RKE2's configuration, or RKE2 restores it; then ${copy}`
    : copy;
  if (nameOf(daemonSet) !== dropInName)
    return [
      found(
        "blocks",
        object,
        `it is not ${dropInName}, so the drop-in would run beside it instead of replacing it`,
        remedy,
      ),
    ];
  const selector = JSON.stringify(valueIn(daemonSet, "spec", "selector", "matchLabels"));
  if (selector === '{"name":"multus"}') return [found("ok", object, "the drop-in has the same name and selector")];
  return [found("blocks", object, `its selector is ${selector}, which cannot be changed to name=multus`, remedy)];
}

const folders = [
  { mountPath: "/host/etc/cni/net.d", volume: "cni-conf", expected: "/etc/cni/net.d" },
  { mountPath: "/host/opt/cni/bin", volume: "cni-bin", expected: "/opt/cni/bin" },
] as const;

function checkFolders({ daemonSet }: MultusInstall): readonly Finding[] {
  return folders.flatMap(({ mountPath, volume, expected }): readonly Finding[] => {
    const seen = (hostFolderAt(daemonSet, mountPath) ?? expected).replace(/\/$/u, "");
    if (seen === expected) return [];
    const remedy = `set the volume ${volume} of the drop-in's DaemonSet to ${seen}`;
    return [found("blocks", titleOf(daemonSet), `it uses the host's ${seen}, the drop-in ${expected}`, remedy)];
  });
}

/** Other programs that use Multus' daemon. Levee serves its HTTP interface only where `multusSocketDir` is set. */
export function checkOtherUsers(
  objects: readonly KubeObject[],
  installs: readonly MultusInstall[],
): readonly Finding[] {
  const own = new Set([...installs.map(({ daemonSet }) => daemonSet), ...findLevee(objects)]);
  return objects
    .filter((object) => workloads.has(kindOf(object)) && !own.has(object) && !isOpenShiftMultus(object))
    .flatMap((object): readonly Finding[] => {
      if (isDynamicNetworks(object)) return [dynamicNetworks(object)];
      if (isCertApprover(object)) return [certApprover(object)];
      return mountsSocket(object) ? [socketUser(object)] : [];
    });
}

const workloads: ReadonlySet<string> = new Set(["DaemonSet", "Deployment", "StatefulSet", "Pod"]);

function dynamicNetworks(object: KubeObject): Finding {
  return {
    topic: "other users of Multus",
    level: "differs",
    object: titleOf(object),
    what: "it changes networks of running pods through Multus' /delegate; Levee makes these changes itself, once, whether it runs or not",
    remedy:
      'remove it after the move; until then set "multusSocketDir": "/host/run/multus" on nodes with Levee, or it logs errors and changes nothing there',
  };
}

function certApprover(object: KubeObject): Finding {
  return {
    topic: "other users of Multus",
    level: "differs",
    object: titleOf(object),
    what: "it signs Multus' per-node certificates, which Levee does not use: its token is bound to pod and node",
    remedy: "remove it after the move",
  };
}

function socketUser(object: KubeObject): Finding {
  return {
    topic: "other users of Multus",
    level: "differs",
    object: titleOf(object),
    what: "it mounts Multus' socket folder, which will have no multus.sock unless multusSocketDir is set",
    remedy: "before you move, find out what it asks Multus for; Levee answers /cni, /delegate, /healthz and /readyz",
  };
}

function isCertApprover(object: KubeObject): boolean {
  return containersOf(object).some((container) =>
    listIn(container, "command").some((word) => String(word).endsWith("cert-approver")),
  );
}

function mountsSocket(object: KubeObject): boolean {
  return listIn(podSpecOf(object), "volumes").some((volume) =>
    /^\/(?:var\/)?run\/multus(?:\/|$)/u.test(textIn(volume, "hostPath", "path")),
  );
}

function found(level: Level, object: string, what: string, remedy = ""): Finding {
  return { topic: "multus", level, object, what, remedy };
}
