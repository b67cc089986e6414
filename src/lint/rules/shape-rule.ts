import { isSupportedVersion, supportedVersions } from "../../cni/cni-version.ts";
import { isNetworkName, isPluginType } from "../../cni/network-conf.ts";
import { elementsOf, memberOf, textMember, type JsonMember, type JsonNode } from "../json-node.ts";
import { lintFinding, type LintFinding } from "../lint-finding.ts";
import { shownValue } from "../shown-value.ts";
import type { ReadNetwork } from "../read-network.ts";

/** The configuration names its plugins, a known version and a usable name. */
export function shapeRule(read: ReadNetwork): readonly LintFinding[] {
  return [...pluginFindings(read), ...versionFindings(read), ...nameFindings(read)];
}

function pluginFindings(read: ReadNetwork): readonly LintFinding[] {
  const { network, conf, isList } = read;
  const wrong = (message: string, node: JsonNode): LintFinding =>
    lintFinding("LVN0205", network, { message, spot: { on: "config", span: node } });
  const plugins = memberOf(conf, "plugins");
  if (!isList) return plugins === undefined ? typeFindings(conf, "it", wrong) : [both(read, plugins)];
  // libcni reads the top of a list as a map, so the case of its keys counts.
  if (plugins === undefined || plugins.key !== "plugins")
    return [wrong('it has neither "type" nor "plugins", so it names no plugin', plugins?.value ?? conf)];
  if (plugins.value.kind !== "array") return [wrong('"plugins" must be a list of objects', plugins.value)];
  const elements = elementsOf(plugins.value);
  if (elements.length === 0) return [wrong('"plugins" is empty, so it names no plugin', plugins.value)];
  return elements.flatMap((element, index) => typeFindings(element, `plugins[${index}]`, wrong));
}

function both({ network }: ReadNetwork, plugins: JsonMember): LintFinding {
  return lintFinding("LVN0205", network, {
    message: 'it has "type" and "plugins"; with "type", the list is ignored',
    remedy: 'remove "type" at the top, or "plugins"',
    spot: { on: "config", span: plugins.keySpan },
  });
}

type Wrong = (message: string, node: JsonNode) => LintFinding;

function typeFindings(node: JsonNode, what: string, wrong: Wrong): readonly LintFinding[] {
  if (node.kind !== "object") return [wrong(`${what} must be an object with "type"`, node)];
  const type = memberOf(node, "type")?.value;
  if (type === undefined) return [wrong(`${what} has no "type"`, node)];
  if (type.kind !== "string" || type.text === "") return [wrong(`the "type" of ${what} must name a plugin`, type)];
  return isPluginType(type.text)
    ? []
    : [wrong(`the "type" of ${what} must be the name of a program: it is ${shownValue(type.text)}`, type)];
}

function versionFindings({ network, conf }: ReadNetwork): readonly LintFinding[] {
  const single = memberOf(conf, "cniVersion");
  const several = elementsOf(memberOf(conf, "cniVersions")?.value);
  const known = [single?.value, ...several].some((node) => node?.kind === "string" && isSupportedVersion(node.text));
  if (known) return [];
  if (single === undefined && several.length === 0)
    return [
      lintFinding("LVN0207", network, {
        message: 'it has no "cniVersion", so the plugins speak 0.1.0, whose results have no interfaces',
        remedy: 'add "cniVersion": "1.0.0"',
        spot: { on: "config", span: { start: conf.start, end: conf.start + 1 } },
      }),
    ];
  const node = single?.value ?? several[0] ?? conf;
  const seen = "text" in node ? shownValue(node.text) : `a ${node.kind}`;
  return [
    lintFinding("LVN0206", network, {
      message: `"cniVersion" must be one of ${supportedVersions.join(", ")}: it is ${seen}`,
      spot: { on: "config", span: node },
    }),
  ];
}

/** Plugins for which many definitions share one name on purpose. */
const sharedNames: ReadonlySet<string> = new Set(["ovn-k8s-cni-overlay"]);

function nameFindings({ network, conf, plugins }: ReadNetwork): readonly LintFinding[] {
  const field = memberOf(conf, "name");
  if (field === undefined) return [];
  const spot = { on: "config", span: field.value } as const;
  const name = textMember(conf, "name");
  if (name === undefined) {
    if (field.value.kind === "string") return []; // an empty name is filled in
    return [lintFinding("LVN0208", network, { message: '"name" must be a text', spot })];
  }
  if (!isNetworkName(name))
    return [
      lintFinding("LVN0208", network, { message: `"name" cannot be a file name: it is ${shownValue(name)}`, spot }),
    ];
  if (name === network.name || plugins.some(({ type }) => sharedNames.has(type))) return [];
  return [
    lintFinding("LVN0209", network, {
      message: `"name" is ${shownValue(name)}, and the definition is called ${shownValue(network.name)}`,
      spot,
    }),
  ];
}
