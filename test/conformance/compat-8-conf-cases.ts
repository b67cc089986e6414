import { mkdir, writeFile } from "node:fs/promises";
import type { Lab } from "../lab/lab.ts";
import { defaultNetworkAnnotation, networksAnnotation } from "./node.ts";

/** Confs of the runtime, and which networks a pod has by them: `plugin interface`, or the words of refusal. */
export interface ConfCase {
  readonly what: string;
  readonly conf: (lab: Lab) => Readonly<Record<string, unknown>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly runs?: readonly string[];
  /** Multus' words; `{namespace}` is the pod's. */
  readonly words?: string;
  /** Multus up to v4.3.0 loses most of a list's configuration before DEL, so that its plugins cannot do their work. */
  readonly isLostByMultus?: boolean;
  readonly before?: string;
  readonly after?: string;
}

const inline = (lab: Lab, type: string, more: Record<string, unknown> = {}): Record<string, unknown> => ({
  cniVersion: "1.0.0",
  name: type,
  ...lab.conf(type, more),
});
const onDmz = { [networksAnnotation]: "nets/dmz" };
const onLan = { [networksAnnotation]: "nets/lan" };
const isolated = { namespaceIsolation: true };
const portMappings = [{ hostPort: 8080, containerPort: 80, protocol: "tcp" }];
const isolationWords =
  "GetNetworkDelegates: namespace isolation enabled, annotation violates permission, pod is in namespace {namespace} but refers to target namespace nets";

/** Folders and files that the cases name; `confdir` is where confs are looked for by name. */
export async function writeConfs(lab: Lab): Promise<void> {
  const files: Record<string, unknown> = {
    "confdir/50-by-name.conf": { ...inline(lab, "first"), name: "by-name" },
    "confdir/60-list.conflist": { cniVersion: "1.0.0", name: "list-by-name", plugins: [lab.conf("second")] },
    "confdir/70-empty-spec.conf": { ...inline(lab, "third"), name: "nospec" },
    "places/folder/20-b.conf": { ...inline(lab, "second"), name: "b" },
    "places/folder/10-a.conflist": { cniVersion: "1.0.0", name: "a", plugins: [lab.conf("first"), lab.conf("third")] },
    "places/single.conf": { ...inline(lab, "third"), name: "single" },
    "places/list.conflist": { cniVersion: "1.0.0", name: "list", plugins: [lab.conf("first", { own: { field: 1 } })] },
    "places/list/10-more.conf": lab.conf("third", { more: 1 }),
    "places/closed.conflist": {
      ...{ cniVersion: "1.0.0", name: "list", loadOnlyInlinedPlugins: true },
      plugins: [lab.conf("first")],
    },
    "places/vendor/10-tune.conf": lab.conf("second", { tune: 1 }),
  };
  for (const folder of ["places/folder", "places/list", "places/vendor"])
    await mkdir(lab.path(folder), { recursive: true });
  for (const [file, conf] of Object.entries(files)) await writeFile(lab.path(file), JSON.stringify(conf));
  // Gets no configuration of its own, so the programmable plugin cannot stand in for it.
  const passthru = `#!/bin/sh\n[ "$CNI_COMMAND" != ADD ] || echo '{"cniVersion":"1.0.0"}'\n`;
  await writeFile(lab.path("bin/passthru"), passthru, { mode: 0o755 });
}

export const confCases: readonly ConfCase[] = [
  {
    what: "two inline delegates: the first is the pod's own network",
    conf: (lab) => ({ delegates: [inline(lab, "first"), inline(lab, "second")] }),
    runs: ["first eth0", "second net1"],
  },
  {
    what: "an inline list, and a pod's network after it",
    conf: (lab) => ({
      delegates: [{ cniVersion: "1.0.0", name: "chain", plugins: [lab.conf("first"), lab.conf("second")] }],
    }),
    annotations: onDmz,
    runs: ["first eth0", "second eth0", "third net1"],
  },
  {
    what: "keys of a conf in other letters",
    conf: (lab) => {
      const { type, ...rest } = lab.conf("first");
      return { Delegates: [{ CNIVERSION: "1.0.0", NAME: "odd", Type: type, ...rest }] };
    },
    runs: ["first eth0"],
  },
  {
    what: "keys of a plugin in a list in other letters",
    conf: (lab) => {
      const { type, ...rest } = lab.conf("second");
      const plugin = { TYPE: type, Capabilities: { portMappings: true }, ...rest };
      return {
        delegates: [{ cniVersion: "1.0.0", name: "chain", plugins: [lab.conf("first"), plugin] }],
        runtimeConfig: { portMappings },
      };
    },
    runs: ["first eth0", "second eth0"],
  },
  {
    what: "the runtime's port mappings, for the plugin that takes them",
    conf: (lab) => ({
      delegates: [inline(lab, "first", { capabilities: { portMappings: true } })],
      runtimeConfig: { portMappings, bandwidth: { ingressRate: 1 } },
    }),
    runs: ["first eth0"],
  },
  {
    what: "the runtime's port mappings, for the one plugin of a list that takes them",
    conf: (lab) => ({
      delegates: [
        {
          ...{ cniVersion: "1.0.0", name: "chain" },
          plugins: [lab.conf("first"), lab.conf("second", { capabilities: { portMappings: true } })],
        },
      ],
      runtimeConfig: { portMappings },
    }),
    runs: ["first eth0", "second eth0"],
  },
  {
    what: "clusterNetwork: a definition in kube-system",
    conf: () => ({ clusterNetwork: "home" }),
    runs: ["second eth0"],
  },
  {
    what: "clusterNetwork: a definition in multusNamespace",
    conf: () => ({ clusterNetwork: "dmz", multusNamespace: "nets" }),
    runs: ["third eth0"],
  },
  {
    what: "clusterNetwork: a conf by its name",
    conf: () => ({ clusterNetwork: "by-name" }),
    runs: ["first eth0"],
  },
  {
    what: "clusterNetwork: a conflist by its name",
    conf: () => ({ clusterNetwork: "list-by-name" }),
    runs: ["second eth0"],
  },
  {
    what: "clusterNetwork: a folder, whose first file counts",
    conf: (lab) => ({ clusterNetwork: lab.path("places/folder") }),
    runs: ["first eth0", "third eth0"],
  },
  {
    what: "clusterNetwork: a conf's path",
    conf: (lab) => ({ clusterNetwork: lab.path("places/single.conf") }),
    runs: ["third eth0"],
  },
  {
    what: "clusterNetwork: a conflist's path, with the plugins of its own folder",
    conf: (lab) => ({ clusterNetwork: lab.path("places/list.conflist") }),
    isLostByMultus: true,
    runs: ["first eth0", "third eth0"],
  },
  {
    what: "clusterNetwork: a conflist that wants no folder",
    conf: (lab) => ({ clusterNetwork: lab.path("places/closed.conflist") }),
    isLostByMultus: true,
    runs: ["first eth0"],
  },
  {
    what: "clusterNetwork wins over delegates",
    conf: (lab) => ({ clusterNetwork: "home", delegates: [inline(lab, "first")] }),
    runs: ["second eth0"],
  },
  {
    what: "defaultNetworks: a definition, a name and a path, before the pod's own",
    conf: (lab) => ({ clusterNetwork: "home", defaultNetworks: ["by-name", lab.path("places/single.conf")] }),
    annotations: onLan,
    runs: ["second eth0", "first net1", "third net2", "second net3"],
  },
  {
    what: "defaultNetworks: not for pods of systemNamespaces",
    conf: () => ({
      clusterNetwork: "home",
      defaultNetworks: ["by-name"],
      systemNamespaces: ["default", "multus"],
    }),
    annotations: onDmz,
    runs: ["second eth0", "third net1"],
  },
  {
    what: "defaultNetworks: an empty systemNamespaces exempts no namespace",
    conf: () => ({ clusterNetwork: "home", defaultNetworks: ["by-name"], systemNamespaces: [] }),
    annotations: onDmz,
    runs: ["second eth0", "first net1", "third net2"],
  },
  {
    what: "defaultNetworks: not with delegates",
    conf: (lab) => ({ delegates: [inline(lab, "first")], defaultNetworks: ["by-name"] }),
    runs: ["first eth0"],
  },
  {
    what: "the default-network annotation puts another network in the place of clusterNetwork",
    conf: () => ({ clusterNetwork: "home", defaultNetworks: ["by-name"] }),
    annotations: { [defaultNetworkAnnotation]: "nets/dmz" },
    runs: ["third eth0", "first net1"],
  },
  {
    what: "a definition without a spec is the conf of its name",
    conf: (lab) => ({ delegates: [inline(lab, "first")] }),
    annotations: { [networksAnnotation]: "nets/nospec" },
    runs: ["first eth0", "third net1"],
  },
  {
    what: "isolation: a network of another namespace is refused",
    conf: (lab) => ({ ...isolated, delegates: [inline(lab, "first")] }),
    annotations: onLan,
    words: isolationWords,
  },
  {
    what: "isolation: globalNamespaces takes the place of default",
    conf: (lab) => ({ ...isolated, globalNamespaces: "other", delegates: [inline(lab, "first")] }),
    annotations: onLan,
    words: isolationWords,
  },
  {
    what: "isolation: a namespace in globalNamespaces, blanks or not, is open",
    conf: (lab) => ({ ...isolated, globalNamespaces: " foo,nets ,default", delegates: [inline(lab, "first")] }),
    annotations: onLan,
    runs: ["first eth0", "second net1"],
  },
  {
    what: "isolation: the default-network annotation is not subject to it",
    conf: (lab) => ({ ...isolated, delegates: [inline(lab, "first")] }),
    annotations: { [defaultNetworkAnnotation]: "nets/lan" },
    runs: ["second eth0"],
  },
  {
    what: "the auxiliary chain runs last, on the next free name",
    conf: (lab) => ({ clusterNetwork: lab.path("places/single.conf"), auxiliaryCNIChainName: "vendor" }),
    annotations: onLan,
    isLostByMultus: true,
    runs: ["third eth0", "second net1", "second net2"],
  },
  {
    what: "the auxiliary chain: none without plugins in its folder",
    conf: (lab) => ({ clusterNetwork: lab.path("places/single.conf"), auxiliaryCNIChainName: "absent" }),
    runs: ["third eth0"],
  },
  {
    what: "the auxiliary chain needs a clusterNetwork that is a path",
    conf: () => ({ clusterNetwork: "home", auxiliaryCNIChainName: "vendor" }),
    words: "auxiliary chain used but ClusterNetwork must be a path, and it is not a path: home",
  },
  {
    what: "a delegate without a type",
    conf: () => ({ delegates: [{ cniVersion: "1.0.0", name: "x", _not_type: "first" }] }),
    words: "LoadDelegateNetConfList: delegate must have the 'type' or 'plugin' field",
    before: "Cannot use delegates[0]: ",
    after: ": it is missing",
  },
];
