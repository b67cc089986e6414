import type { JsonText, Namespace } from "../base/brand.ts";
import { isSupportedVersion, supportedVersions } from "../cni/cni-version.ts";
import { trimSpace } from "../base/trim-space.ts";
import { scanObject, valueOf } from "../cni/json-text.ts";
import type { SettingsReader } from "./settings-reader.ts";

/** Keys of Multus in daemon-config.json, on stdin, or in both. Unset strings are empty. */
export interface NetSettings {
  readonly cniVersion: string;
  readonly name: string;
  /** Confs and conflists of the networks that every pod gets, each as it was written. */
  readonly delegates: readonly JsonText[];
  readonly clusterNetwork: string;
  readonly defaultNetworks: readonly string[];
  readonly systemNamespaces: readonly Namespace[];
  readonly multusNamespace: Namespace;
  readonly namespaceIsolation: boolean;
  readonly globalNamespaces: readonly Namespace[];
  readonly readinessindicatorfile: string;
  readonly auxiliaryCNIChainName: string;
  readonly confDir: string;
  readonly binDir: string;
  readonly cniDir: string;
  /** Values by capability. The plan decides which plugins get them. */
  readonly runtimeConfig: Readonly<Record<string, JsonText>>;
}

export const netDefaults = {
  systemNamespaces: ["kube-system"],
  multusNamespace: "kube-system",
  globalNamespaces: ["default"],
  confDir: "/etc/cni/multus/net.d",
  binDir: "/opt/cni/bin",
  cniDir: "/var/lib/cni/multus",
} as const;

export function readNetSettings(from: SettingsReader): NetSettings {
  return {
    ...readNetworks(from),
    ...readScopes(from),
    cniVersion: from.word("cniVersion", isSupportedVersion, `set one of ${supportedVersions.join(", ")}`) ?? "",
    name: from.word("name", isConfName, confNameRemedy) ?? "",
    readinessindicatorfile: from.path("readinessindicatorfile") ?? "",
    confDir: from.path("confDir") ?? netDefaults.confDir,
    binDir: from.path("binDir") ?? netDefaults.binDir,
    cniDir: from.path("cniDir") ?? netDefaults.cniDir,
    runtimeConfig: readRuntimeConfig(from),
  };
}

type Networks = Pick<NetSettings, "delegates" | "clusterNetwork" | "defaultNetworks" | "auxiliaryCNIChainName">;

function readNetworks(from: SettingsReader): Networks {
  return {
    delegates: Object.freeze([...(from.objects("delegates") ?? [])]),
    clusterNetwork: from.string("clusterNetwork") ?? "",
    defaultNetworks: Object.freeze(from.strings("defaultNetworks")?.filter((name) => name !== "") ?? []),
    auxiliaryCNIChainName: from.word("auxiliaryCNIChainName", isConfName, confNameRemedy) ?? "",
  };
}

type Scopes = Pick<NetSettings, "systemNamespaces" | "multusNamespace" | "namespaceIsolation" | "globalNamespaces">;

/** Settings about namespaces. */
function readScopes(from: SettingsReader): Scopes {
  const multusNamespace = from.word("multusNamespace", isNamespace, "set the name of a namespace");
  const globalNamespaces = from.string("globalNamespaces");
  return {
    systemNamespaces: namespaces(from, "systemNamespaces", from.strings("systemNamespaces")),
    multusNamespace: multusNamespace ?? (netDefaults.multusNamespace as Namespace), // a namespace by what is written above
    namespaceIsolation: from.flag("namespaceIsolation") ?? false,
    globalNamespaces: namespaces(
      from,
      "globalNamespaces",
      globalNamespaces === "" ? undefined : globalNamespaces?.split(","),
    ),
  };
}

/** The rule of the CNI specification, because the name is part of paths. */
function isConfName(text: string): boolean {
  return /^[a-zA-Z0-9][a-zA-Z0-9_.-]*$/u.test(text);
}

const confNameRemedy = "set letters, digits, '_', '.' and '-', the first a letter or digit";

/** A list without a name means no namespace, as in Multus. Only an unset one has the default. */
function namespaces(
  from: SettingsReader,
  key: "systemNamespaces" | "globalNamespaces",
  given: readonly string[] | undefined,
): readonly Namespace[] {
  const names = (given ?? netDefaults[key]).map(trimSpace).filter((name) => name !== "");
  const right = names.filter(isNamespace);
  if (right.length < names.length) from.wrong(key, "set names of namespaces: lower-case letters, digits and '-'");
  return Object.freeze(right);
}

function isNamespace(text: string): text is Namespace {
  return /^[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?$/u.test(text);
}

function readRuntimeConfig(from: SettingsReader): Readonly<Record<string, JsonText>> {
  const object = from.object("runtimeConfig");
  if (object === undefined) return Object.freeze({});
  return Object.freeze(Object.fromEntries(scanObject(object).map((member) => [member.key, valueOf(object, member)])));
}
