import { uplinkAnnotation, uplinkVlanAnnotation } from "../../../base/annotations.ts";
import { LeveeError } from "../../../base/errors.ts";
import {
  comparedVersions,
  isBuiltinPlugin,
  isComparedPlugin,
  type BuiltinPlugin,
} from "../../../cni/builtin/builtin-plugins.ts";
import { ipamOf } from "../../../cni/ipam.ts";
import { asJsonText, memberText } from "../../../cni/json-text.ts";
import { isBridgeType, parseNetworkConf, type NetworkConf } from "../../../cni/network-conf.ts";
import { netDefaults } from "../../../config/net-settings.ts";
import { plural } from "../../terminal/plural.ts";
import type { Finding, Level } from "./finding.ts";
import { kindOf, nameOf, textIn, titleOf, type KubeObject } from "../../kube-object.ts";

/** A network definition, and its configuration if it is readable. */
export interface KnownNetwork {
  readonly object: KubeObject;
  readonly name: string;
  /** Undefined if it is invalid, or a file on each node. */
  readonly conf: NetworkConf | undefined;
}

interface NetworksCheck {
  readonly findings: readonly Finding[];
  readonly networks: ReadonlyMap<string, KnownNetwork>;
}

export function checkNetworks(objects: readonly KubeObject[], confDir: string = netDefaults.confDir): NetworksCheck {
  const findings: Finding[] = [];
  const networks = new Map<string, KnownNetwork>();
  for (const object of objects.filter((each) => kindOf(each) === "NetworkAttachmentDefinition")) {
    const checked = checkNetwork(object, confDir);
    networks.set(nameOf(object), { object, name: nameOf(object), conf: checked.conf });
    findings.push(...checked.findings);
  }
  const good = networks.size - new Set(findings.map((finding) => finding.object)).size;
  if (good > 0)
    findings.unshift(found("ok", plural(good, "network"), good === 1 ? "used as it is" : "used as they are"));
  return { findings: [...findings, ...builtIn([...networks.values()])], networks };
}

/** The same results and the same files on the node, but no program is started: a person should know it. */
function builtIn(networks: readonly KnownNetwork[]): readonly Finding[] {
  const names = new Set(networks.flatMap(({ conf }) => conf?.plugins ?? []).flatMap(builtInNames));
  const remedy = "levee check node says which one serves; builtinPlugins: off keeps all programs (docs/builtin.md)";
  const look = (some: readonly string[], what: string): readonly Finding[] =>
    some.length === 0 ? [] : [found("look", `plugins ${some.join(", ")}`, what, remedy)];
  const sorted = [...names].toSorted();
  return [
    ...look(
      sorted.filter(isComparedPlugin),
      `the shim has them built in, and starts no program where the node has none or upstream's of ${comparedVersions.join(" or ")}; another program runs as before`,
    ),
    ...look(
      sorted.filter((name) => !isComparedPlugin(name)),
      "the shim has them built in, but serves them only on a node that has no program for them; every program runs as before",
    ),
  ];
}

/** A program calls the program of its address plugin, and a plugin with such an address plugin is a program. */
function builtInNames({ type, text }: NetworkConf["plugins"][number]): readonly BuiltinPlugin[] {
  const ipam = ipamOf(text).type;
  if (!isBuiltinPlugin(type)) return [];
  if (ipam === "") return [type];
  if (!isBuiltinPlugin(ipam)) return [];
  return isComparedPlugin(type) ? [type, ipam] : [type];
}

function checkNetwork(
  object: KubeObject,
  confDir: string,
): {
  readonly findings: readonly Finding[];
  readonly conf: NetworkConf | undefined;
} {
  const title = titleOf(object);
  const text = textIn(object, "spec", "config");
  if (text.trim() === "") return { findings: [fromFile(title, confDir)], conf: undefined };
  try {
    const conf = parseNetworkConf(asJsonText(text, title), {
      what: title,
      defaultName: textIn(object, "metadata", "name"),
    });
    return { findings: [...sharedCapabilities(title, conf), ...withoutUplink(title, object, conf)], conf };
  } catch (thrown) {
    if (!(thrown instanceof LeveeError)) throw thrown;
    return { findings: [invalid(title, thrown.message)], conf: undefined };
  }
}

function fromFile(title: string, confDir: string): Finding {
  return found(
    "differs",
    title,
    "it has no configuration, so it is a file on each node: with Levee, a broken file in that folder does not hide the others",
    `make sure that ${confDir} of every node has it`,
  );
}

/** Pods that use it are refused; checkPods finds those. */
function invalid(title: string, message: string): Finding {
  return found(
    "differs",
    title,
    `its configuration is refused: ${message}`,
    "correct it; pods that ask for it cannot start",
  );
}

/** Multus passes the runtime's values to every network with the capability; Levee passes them to the default network only. */
function sharedCapabilities(title: string, conf: NetworkConf): readonly Finding[] {
  const shared = ["portMappings", "bandwidth"].filter((capability) =>
    conf.plugins.some((plugin) => plugin.capabilities[capability] === true),
  );
  return shared.map((capability) =>
    found(
      "differs",
      title,
      `the ${capability} of the pod itself go to the default network only; Multus gave them to this one as well`,
      `ask for them in the pod's annotation ("${capability}") if this network has to serve them`,
    ),
  );
}

const gatewayKeys = ["isGateway", "isDefaultGateway", "ipMasq"];

/** Multus lets the plugin make a bridge that leads nowhere; Levee has the pod wait for the host's. */
function withoutUplink(title: string, object: KubeObject, conf: NetworkConf): readonly Finding[] {
  const isTold = [uplinkAnnotation, uplinkVlanAnnotation].some(
    (name) => textIn(object, "metadata", "annotations", name) !== "",
  );
  const isRouted = ({ text }: NetworkConf["plugins"][number]): boolean =>
    gatewayKeys.some((key) => memberText(text, key) === "true");
  if (isTold || !conf.plugins.some((plugin) => isBridgeType(plugin.type) && !isRouted(plugin))) return [];
  return [
    found(
      "differs",
      title,
      "its pods wait on nodes where its bridge is missing or has no uplink; with Multus the plugin makes a bridge that leads nowhere",
      `annotate it with ${uplinkAnnotation}=none if its pods only need to reach each other on one node; otherwise see levee check network`,
    ),
  ];
}

function found(level: Level, object: string, what: string, remedy = ""): Finding {
  return { topic: "networks", level, object, what, remedy };
}
