import { checkMultus, checkOtherUsers } from "./check-multus.ts";
import { checkNetworks } from "./check-networks.ts";
import { checkPods } from "./check-pods.ts";
import { checkSettings, type SettingsCheck } from "./check-settings.ts";
import { aggregated, type Finding } from "./finding.ts";
import { findMultus, type MultusInstall } from "./find-multus.ts";
import { kindOf, nameOf, textIn, titleOf, type KubeObject } from "../../kube-object.ts";

/** Everything that differs once Levee replaces Multus, found in the objects of a cluster or of manifests. */
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
    what: `it exists ${count} times with different settings; only the first was checked`,
    remedy: "name only the files that are applied to this cluster",
  };
}

/** Only in files: replacing them by the drop-in, with pruning on, would delete every network. */
function checkType(objects: readonly KubeObject[]): readonly Finding[] {
  return objects
    .filter((each) => kindOf(each) === "CustomResourceDefinition" && textIn(each, "metadata", "name") === networkType)
    .map((each) => ({
      topic: "multus",
      level: "look",
      object: `CustomResourceDefinition ${textIn(each, "metadata", "name")}`,
      what: "it is among these files: with pruning, a GitOps controller that no longer finds it deletes it and every network",
      remedy: "keep this document when you replace Multus' file by the release's multus-drop-in.yaml",
    }));
}

const networkType = "network-attachment-definitions.k8s.cni.cncf.io";

function missing(name: string, install: MultusInstall): Finding {
  return {
    topic: "settings",
    level: "blocks",
    object: `ConfigMap ${name}`,
    what: `it is missing, and ${titleOf(install.daemonSet)} reads its settings from it`,
    remedy: "also name the file that has it, or let the check read the cluster",
  };
}
