import { checkMultus, checkOtherUsers } from "./check-multus.ts";
import { checkNetworks } from "./check-networks.ts";
import { checkPods } from "./check-pods.ts";
import { checkSettings, type SettingsCheck } from "./check-settings.ts";
import { aggregated, type Finding } from "./finding.ts";
import { findMultus, type MultusInstall } from "./find-multus.ts";
import { kindOf, nameOf, textAt, titleOf, type KubeObject } from "./kube-object.ts";

/** Everything that will differ when Levee takes Multus' place, found in the objects of a cluster or of its manifests. */
export function checkMigration(objects: readonly KubeObject[]): readonly Finding[] {
  const installs = findMultus(objects);
  const settings = installs.map((install) => settingsOf(install, objects));
  const { findings: ofNetworks, networks } = checkNetworks(objects);
  const config = settings.find((check) => check.config !== undefined)?.config;
  return aggregated([
    ...checkMultus(installs),
    ...settings.flatMap((check) => check.findings),
    ...checkOtherUsers(objects, installs),
    ...ofNetworks,
    ...checkPods({ objects, networks, config }),
  ]);
}

function settingsOf(install: MultusInstall, objects: readonly KubeObject[]): SettingsCheck {
  if (install.config === undefined) return { findings: [], config: undefined };
  const name = `${install.config.namespace}/${install.config.name}`;
  const object = objects.find((each) => kindOf(each) === "ConfigMap" && nameOf(each) === name);
  if (object === undefined) return { findings: [missing(name, install)], config: undefined };
  return checkSettings(`ConfigMap ${name}`, textAt(object, "data", "daemon-config.json"));
}

function missing(name: string, install: MultusInstall): Finding {
  return {
    topic: "settings",
    level: "blocks",
    object: `ConfigMap ${name}`,
    what: `it is not there, and ${titleOf(install.daemonSet)} reads its settings from it`,
    remedy: "give the file that has it as well, or let the check read the cluster",
  };
}
