/**
 * Every key that Multus reads from daemon-config.json or from the conf on stdin, and its effect in Levee.
 * A check compares docs/knobs.md with this table.
 */
export const multusKeys = {
  // The conf itself
  "cniVersion": used(
    "string",
    "CNI version of the generated conf (the primary network's unless set), and of plugins that name none.",
  ),
  "name": used(
    "string",
    "Name of the network in the generated conf; `multus-cni-network` unless set, because runtimes keep results under this name.",
  ),
  "type": ignored("string", "the conf is always generated with our own shim's type"),
  "capabilities": used("flags", "Capabilities the generated conf declares, besides the primary network's and our own."),
  "ipam": ignored("object", "the plugins of each network assign the addresses"),
  "dns": ignored("object", "name servers come from the plugins' results"),
  "prevResult": perCall("object", "it belongs to a single call and comes only from the call's own conf"),
  "cni.dev/valid-attachments": perCall(
    "list",
    "it belongs to a single GC call; a fixed list would detach every pod that is not on it",
  ),
  "cni.dev/attachments": perCall(
    "list",
    "it belongs to a single GC call; a fixed list would detach every pod that is not on it",
  ),
  "runtimeConfig": used("object", "Replaces what the runtime sends, as with Multus."),
  // Which networks
  "confDir": used(
    "path",
    "Folder of confs for networks that name no configuration of their own; `/etc/cni/multus/net.d`.",
  ),
  "cniDir": used(
    "path",
    "Folder of Multus' cache. Levee reads it at DEL and keeps it up to date, so that a node can go back to Multus; `/var/lib/cni/multus`.",
  ),
  "binDir": used("path", "Folder that is searched for plugins after the call's own CNI_PATH; `/opt/cni/bin`."),
  "delegates": used(
    "objects",
    "Networks of every pod; the first is the default network. Only used without `clusterNetwork`.",
  ),
  "clusterNetwork": used(
    "string",
    "The default network: a NetworkAttachmentDefinition in `multusNamespace`, a conf's name, a file or a folder.",
  ),
  "defaultNetworks": used("strings", "Further networks for every pod outside `systemNamespaces`."),
  "systemNamespaces": used(
    "strings",
    "Namespaces whose pods get no `defaultNetworks` and whose ADDs go first; `kube-system` unless set, none with an empty list.",
  ),
  "multusNamespace": used(
    "string",
    "Namespace in which `clusterNetwork` and `defaultNetworks` are looked up; `kube-system`.",
  ),
  "namespaceIsolation": used(
    "flag",
    "Pods may use only networks of their own namespace and of `globalNamespaces`; off.",
  ),
  "globalNamespaces": used(
    "string",
    "Namespaces whose networks every pod may use, separated by commas; `default` unless set, none with blanks and commas alone.",
  ),
  "readinessindicatorfile": used(
    "path",
    "File, as the daemon sees it, that shows that the default network is ready. Only ADD waits for it, within `addLookupMs`.",
  ),
  "auxiliaryCNIChainName": used(
    "string",
    "Folder next to `clusterNetwork` whose plugins form a last, additional chain.",
  ),
  // The daemon
  "socketDir": used("path", "See the table above."),
  "daemonSocketDir": used("path", "See the table above."),
  "metricsPort": used(
    "integer",
    "Port of `/metrics`, `/loadz`, `/networkz`, `/nodez`, `/podz`, `/stormz` and `/dryrunz` on every interface; off unless set.",
  ),
  "logLevel": used(
    "string",
    "`panic` and `error` log errors, `verbose` also logs normal events, `debug` logs everything; `verbose` unless set.",
  ),
  "cniConfigDir": used("path", "Where the generated conf is written; `/etc/cni/net.d`."),
  "multusConfigFile": used("string", "`auto` to generate the conf, or the path of one to install; `auto`."),
  "multusMasterCNI": used(
    "string",
    "File name of the primary conf in `multusAutoconfigDir`; the first one unless set.",
  ),
  "multusAutoconfigDir": used("path", "Folder of the primary conf; `cniConfigDir` unless set."),
  "overrideNetworkName": used("flag", "The generated conf takes the primary conf's `name`; off."),
  "kubeconfig": used(
    "path",
    "Access to the API server for a daemon outside of a pod. A pod uses its service account, as the thick Multus does.",
  ),
  // Accepted, without effect
  "chrootDir": ignored("string", "the shim runs the plugins, and it is on the host already"),
  "logFile": ignored("string", "logs go to stderr, where the container runtime rotates them"),
  "logOptions": ignored("object", "logs go to stderr, where the container runtime rotates them"),
  "logToStderr": ignored("flag", "logs always go to stderr", true),
  "enablePprof": ignored(
    "flag",
    "there is no Go runtime to profile; the metrics port serves our own measurements",
    false,
  ),
  "connectionLimit": ignored(
    "integer",
    "waiting calls are cheap here; `attachCeiling`, `detachCeiling` and `waitingMax` bound the work",
  ),
  "retryDeleteOnError": ignored("flag", "Levee always keeps what a failed DEL left behind and tries again", true),
  "perNodeCertificate": ignored("object", "the daemon uses its own service account"),
  "forceCNIVersion": ignored("flag", "Levee never rewrites the conf of another network", false),
} as const satisfies Record<string, MultusKey>;

export interface MultusKey {
  readonly kind: MultusKind;
  /** `used`: has its effect. `ignored`: type-checked and logged once. `per-call`: taken from the call's conf only. */
  readonly use: "used" | "ignored" | "per-call";
  /** The effect of the key, or why it has none. */
  readonly note: string;
  /** The value that matches Levee's own behaviour, so that it needs no notice. */
  readonly anyway?: boolean;
}

/** `flags`: object of booleans. `objects`: list of objects. `strings`: list of strings. */
export type MultusKind = "string" | "path" | "flag" | "integer" | "object" | "list" | "strings" | "objects" | "flags";

function used(kind: MultusKind, note: string): MultusKey {
  return { kind, use: "used", note };
}

function ignored(kind: MultusKind, note: string, anyway?: boolean): MultusKey {
  return { kind, use: "ignored", note, ...(anyway === undefined ? {} : { anyway }) };
}

function perCall(kind: MultusKind, note: string): MultusKey {
  return { kind, use: "per-call", note };
}
