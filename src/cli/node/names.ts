import { usageFailure } from "../failure.ts";

/** A network on the command line: `[namespace/]name[@interface]`, the short form of the pod annotation. */
export interface NetworkChoice {
  readonly namespace: string;
  readonly name: string;
  readonly ifname: string | undefined;
}

export interface PodKey {
  readonly namespace: string;
  readonly name: string;
}

const label = /^[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?$/u;
/** Linux allows 15 bytes. A slash, a colon or a space breaks tools that print interface names. */
const interfaceName = /^(?!\.{1,2}$)[^\s/:\u0000-\u001f\u007f]{1,15}$/u;

export function requireLabel(what: string, value: string): string {
  if (!label.test(value)) {
    throw usageFailure(
      `Cannot use ${JSON.stringify(value)} as ${what}: it must be 1 to 63 lower-case letters, digits and hyphens, with a letter or digit at both ends`,
      "a name such as web-1",
    );
  }
  return value;
}

const subdomain = /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*$/u;
/** The API server's limit. */
const subdomainCharsMax = 253;

/** Pod names in a cluster. Those of static pods end with the node's name, which may have dots. */
export function requireSubdomain(what: string, value: string, remedy = "a name as levee ls shows it"): string {
  if (value.length > subdomainCharsMax || !subdomain.test(value)) {
    throw usageFailure(
      `Cannot use ${JSON.stringify(value)} as ${what}: it must be at most ${subdomainCharsMax} lower-case letters, digits, hyphens and dots, with a letter or digit at both ends of each part`,
      remedy,
    );
  }
  return value;
}

/** `name` or `namespace/name`; the option `--namespace` and the prefix must not contradict each other. */
export function parsePod(text: string, namespaceOption: string | undefined, requireName = requireLabel): PodKey {
  const [first = "", second, ...rest] = text.split("/");
  if (rest.length > 0)
    throw usageFailure(
      `Cannot use ${JSON.stringify(text)} as a pod: it has more than one slash`,
      "NAME or NAMESPACE/NAME",
    );
  if (second === undefined)
    return {
      namespace: requireLabel("a namespace", namespaceOption ?? "default"),
      name: requireName("a pod name", first),
    };
  if (namespaceOption !== undefined && namespaceOption !== first) {
    throw usageFailure(
      `Cannot use ${JSON.stringify(text)} with --namespace ${namespaceOption}: they name different namespaces`,
      `omit --namespace`,
    );
  }
  return { namespace: requireLabel("a namespace", first), name: requireName("a pod name", second) };
}

/** The networks of a comma-separated list, in order. */
export function parseNetworks(list: string, podNamespace: string): readonly NetworkChoice[] {
  const items = list.split(",").map((item) => item.trim());
  if (items.some((item) => item === ""))
    throw usageFailure(`Cannot use ${JSON.stringify(list)} as networks: a name is empty`, "--networks lan,dmz");
  return items.map((item) => parseNetwork(item, podNamespace));
}

export function parseNetwork(item: string, podNamespace: string): NetworkChoice {
  const [path = "", ifname, ...more] = item.split("@");
  const parts = path.split("/");
  const name = parts.at(-1) ?? "";
  if (more.length > 0 || parts.length > 2) {
    throw usageFailure(
      `Cannot use ${JSON.stringify(item)} as a network: it must look like [NAMESPACE/]NAME[@INTERFACE]`,
      "lan, shop/lan or lan@data0",
    );
  }
  if (ifname !== undefined && !interfaceName.test(ifname)) {
    throw usageFailure(
      `Cannot use ${JSON.stringify(ifname)} as an interface name: it must be 1 to 15 characters without spaces, slashes and colons`,
      "lan, shop/lan or lan@data0",
    );
  }
  const namespace = parts.length === 2 ? (parts[0] ?? "") : podNamespace;
  return {
    namespace: requireLabel("a network's namespace", namespace),
    name: requireLabel("a network's name", name),
    ifname,
  };
}

export function networkText(choice: NetworkChoice): string {
  return `${choice.namespace}/${choice.name}${choice.ifname === undefined ? "" : `@${choice.ifname}`}`;
}

export function podText(pod: PodKey): string {
  return `${pod.namespace}/${pod.name}`;
}

/** A label has no dot, so pods of two namespaces never share a name. */
export function netnsName(pod: PodKey): string {
  return pod.namespace === "default" ? `levee-${pod.name}` : `levee-${pod.namespace}.${pod.name}`;
}
