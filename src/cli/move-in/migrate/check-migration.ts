import { checkMultus, checkOtherUsers } from "./check-multus.ts";
import { checkNetworks } from "./check-networks.ts";
import { checkPods } from "./check-pods.ts";
import { checkSettings, type SettingsCheck } from "./check-settings.ts";
import { aggregated, type Finding } from "./finding.ts";
import { findMultus, type MultusInstall } from "./find-multus.ts";
import { kindOf, nameOf, textIn, titleOf, type KubeObject } from "./kube-object.ts";

/** Everything that will differ when Levee takes Multus' place, found in the objects of a cluster or of its manifests. */
export function checkMigration(objects: readonly KubeObject[]): readonly Finding[] {
  const installs = findMultus(objects);
  const settings = installs.map((install) => settingsOf(install, objects));
  const config = settings.find((check) => check.config !== undefined)?.config;
  const { findings: ofNetworks, networks } = checkNetworks(objects, config?.confDir);
  return aggregated([
    ...checkMultus(objects, installs),
    ...checkType(objects),
    ...settings.flatMap((check) => check.findings),
    ...checkOtherUsers(objects, installs),
    ...ofNetworks,
    ...checkPods({ objects, networks, config }),
  ]);
}

function settingsOf(install: MultusInstall, objects: readonly KubeObject[]): SettingsCheck {
  if (install.config === undefined) return { findings: [], config: undefined };
  const name = `${install.config.namespace}/${install.config.name}`;
  const maps = objects.filter((each) => kindOf(each) === "ConfigMap" && nameOf(each) === name);
  const [text, ...others] = new Set(maps.map((map) => textIn(map, "data", "daemon-config.json")));
  if (text === undefined) return { findings: [missing(name, install)], config: undefined };
  const check = checkSettings(`ConfigMap ${name}`, text);
  return others.length === 0 ? check : { ...check, findings: [severalMaps(name, maps.length), ...check.findings] };
}

function severalMaps(name: string, count: number): Finding {
  return {
    topic: "settings",
    level: "blocks",
    object: `ConfigMap ${name}`,
    what: `it is there ${count} times with different settings; only the first was looked at`,
    remedy: "name only the files that are applied to this cluster",
  };
}

/** Read from files only: whoever puts the drop-in in their place, with pruning on, would delete every network. */
function checkType(objects: readonly KubeObject[]): readonly Finding[] {
  return objects
    .filter((each) => kindOf(each) === "CustomResourceDefinition" && textIn(each, "metadata", "name") === networkType)
    .map((each) => ({
      topic: "multus",
      level: "look",
      object: `CustomResourceDefinition ${textIn(each, "metadata", "name")}`,
      what: "it is among these files: with pruning, a GitOps controller that no longer finds it deletes it and every network",
      remedy: "keep this document when you put deploy/multus-drop-in.yaml in the place of Multus' file",
    }));
}

const networkType = "network-attachment-definitions.k8s.cni.cncf.io";

function missing(name: string, install: MultusInstall): Finding {
  return {
    topic: "settings",
    level: "blocks",
    object: `ConfigMap ${name}`,
    what: `it is not there, and ${titleOf(install.daemonSet)} reads its settings from it`,
    remedy: "give the file that has it as well, or let the check read the cluster",
  };
}
