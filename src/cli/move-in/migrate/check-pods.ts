import type { Namespace } from "../../../base/brand.ts";
import { LeveeError } from "../../../base/errors.ts";
import { checkCapabilities } from "../../../attachment/capability.ts";
import { checkIsolation } from "../../../attachment/isolation.ts";
import {
  defaultNetworkOf,
  networkNameOf,
  parseSelection,
  type SelectionElement,
} from "../../../attachment/selection.ts";
import { jsonKind, memberText } from "../../../cni/json-text.ts";
import type { NetworkConf } from "../../../cni/network-conf.ts";
import { netDefaults } from "../../../config/net-settings.ts";
import type { DaemonConfig } from "../../../config/daemon-config.ts";
import type { KnownNetwork } from "./check-networks.ts";
import type { Finding, Level } from "./finding.ts";
import {
  valueIn,
  isKubeObject,
  kindOf,
  listIn,
  namespaceOf,
  textIn,
  titleOf,
  type KubeObject,
} from "../../kube-object.ts";
import { defaultNetworkAnnotation, networksAnnotation } from "../../../base/annotations.ts";

interface PodsInput {
  readonly objects: readonly KubeObject[];
  readonly networks: ReadonlyMap<string, KnownNetwork>;
  /** Undefined if the settings are unreadable. */
  readonly config: DaemonConfig | undefined;
}

/** Runs the daemon's own code on each pod that names networks. */
export function checkPods(input: PodsInput): readonly Finding[] {
  const wishes = input.objects.flatMap(wishOf);
  const findings = wishes.flatMap((wish) => checkWish(wish, input));
  const good = wishes.length - new Set(findings.map((finding) => finding.object)).size;
  if (good === 0) return findings;
  const [object, what] =
    good === 1
      ? ["1 pod or template", "asks for networks and gets the same"]
      : [`${good} pods and templates`, "ask for networks and get the same"];
  return [found("ok", object, what), ...findings];
}

/** The annotations of a pod, or of a workload's pods. */
interface Wish {
  readonly title: string;
  readonly namespace: Namespace;
  readonly annotations: Readonly<Record<string, string>>;
}

function wishOf(object: KubeObject): readonly Wish[] {
  const annotations = kindOf(object) === "VirtualMachine" ? ofMachine(object) : ofPod(object);
  const isWish = Object.keys(annotations).some((key) => key === networksAnnotation || key === defaultNetworkAnnotation);
  // The API server has checked the namespace, or would refuse the manifest.
  return isWish ? [{ title: titleOf(object), namespace: namespaceOf(object) as Namespace, annotations }] : [];
}

function ofPod(object: KubeObject): Readonly<Record<string, string>> {
  const path = kindOf(object) === "Pod" ? ["metadata", "annotations"] : ["spec", "template", "metadata", "annotations"];
  const annotations = valueIn(object, ...path);
  if (!isKubeObject(annotations)) return {};
  return Object.fromEntries(Object.entries(annotations).map(([key, value]) => [key, String(value)]));
}

/** KubeVirt makes the pod's annotation from the machine's networks, with the MAC address of the interface. */
function ofMachine(object: KubeObject): Readonly<Record<string, string>> {
  const spec = valueIn(object, "spec", "template", "spec");
  const interfaces = listIn(spec, "domain", "devices", "interfaces");
  const elements = listIn(spec, "networks").flatMap((network) => {
    const [name = "", namespace] = textIn(network, "multus", "networkName").split("/").toReversed();
    const nic = interfaces.find((each) => textIn(each, "name") === textIn(network, "name"));
    const mac = textIn(nic, "macAddress");
    return name === "" ? [] : [{ name, namespace, ...(mac === "" ? {} : { mac }) }];
  });
  return elements.length === 0 ? {} : { [networksAnnotation]: JSON.stringify(elements) };
}

function checkWish(wish: Wish, input: PodsInput): readonly Finding[] {
  try {
    const elements = parseSelection(wish.annotations[networksAnnotation] ?? "", wish.namespace);
    const multusNamespace = input.config?.multusNamespace ?? (netDefaults.multusNamespace as Namespace); // one by its text
    const primary = defaultNetworkOf(wish.annotations, multusNamespace);
    if (input.config !== undefined) checkIsolation(isolationOf(input.config), wish.namespace, elements);
    return [
      ...(primary === undefined ? [] : checkElement(wish, primary, input.networks)),
      ...elements.flatMap((element) => checkWithRequests(wish, element, input.networks)),
    ];
  } catch (thrown) {
    if (!(thrown instanceof LeveeError)) throw thrown;
    const remedy = "correct the annotation, or the pod cannot start again";
    const reason = reasonOf(thrown, wish);
    return isRefusedByMultus(thrown)
      ? [found("look", wish.title, `it is refused, as with Multus: ${reason}`, remedy)]
      : [found("blocks", wish.title, `it would be refused: ${reason}`, remedy)];
  }
}

/** Multus refuses these too; limits and capabilities are only Levee's. */
function isRefusedByMultus({ code, message }: LeveeError): boolean {
  return (code === "annotation-invalid" && !message.includes("at most")) || code === "isolation-violated";
}

/** For an empty annotation, Multus' message does not say which annotation it is. */
function reasonOf({ message }: LeveeError, { annotations }: Wish): string {
  return annotations[defaultNetworkAnnotation] === ""
    ? `its annotation ${defaultNetworkAnnotation} is empty: remove it, or name a network`
    : message;
}

function isolationOf(config: DaemonConfig): {
  readonly isEnabled: boolean;
  readonly globalNamespaces: readonly string[];
} {
  return { isEnabled: config.namespaceIsolation, globalNamespaces: config.globalNamespaces };
}

/** Only for additional networks: the daemon leaves requests to the default network to its plugins. */
function checkWithRequests(
  wish: Wish,
  element: SelectionElement,
  networks: ReadonlyMap<string, KnownNetwork>,
): readonly Finding[] {
  const network = networkNameOf(element);
  const conf = networks.get(network)?.conf;
  if (conf !== undefined) checkCapabilities({ network, conf }, element);
  return [...checkElement(wish, element, networks), ...undeclared(wish, element, conf)];
}

/** Multus does not check whether the plugin granted the request. */
function undeclared(wish: Wish, element: SelectionElement, conf: NetworkConf | undefined): readonly Finding[] {
  if (conf === undefined) return [];
  const open = (["mac", "ips"] as const).filter(
    (key) => element[key] !== undefined && !conf.plugins.some((plugin) => plugin.capabilities[key] === true),
  );
  return open.map((key) =>
    found(
      "differs",
      wish.title,
      `it asks for "${key}", which no plugin of ${networkNameOf(element)} declares: a pod that does not get it is refused`,
      key === "ips" && !hasIpam(conf)
        ? "no plugin of the network gives addresses: add an ipam such as static, or remove the request"
        : `add "capabilities": {"${key}": true} to the plugin that serves it`,
    ),
  );
}

function hasIpam(conf: NetworkConf): boolean {
  return conf.plugins.some(({ text }) => {
    const ipam = memberText(text, "ipam");
    return ipam !== undefined && jsonKind(ipam) === "object" && memberText(ipam, "type") !== undefined;
  });
}

function checkElement(
  wish: Wish,
  element: SelectionElement,
  networks: ReadonlyMap<string, KnownNetwork>,
): readonly Finding[] {
  const name = networkNameOf(element);
  const network = networks.get(name);
  if (network === undefined)
    return [
      found("look", wish.title, `the network ${name} does not exist; the pod is refused, as with Multus`, "create it"),
    ];
  const findings: Finding[] = [];
  if (network.conf === undefined && textIn(network.object, "spec", "config").trim() !== "")
    findings.push(
      found("blocks", wish.title, `it asks for ${name}, whose configuration is refused`, "correct the network"),
    );
  if (element.defaultRoute !== undefined) findings.push(defaultRoute(wish));
  return findings;
}

/** Multus 4.2.2 and later accept the request and leave the route where it was. */
function defaultRoute(wish: Wish): Finding {
  return found(
    "differs",
    wish.title,
    "default-route takes effect: Multus 4.2.2 and later leave the pod's default route on eth0 whatever the annotation says",
    "before the pod restarts, check that it works without eth0's default route",
  );
}

function found(level: Level, object: string, what: string, remedy = ""): Finding {
  return { topic: "pods", level, object, what, remedy };
}
