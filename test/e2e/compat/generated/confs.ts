import { networksAnnotation } from "../compat-cluster.ts";
import { networksNamespace, versions, type Draft } from "./draft.ts";

/** Confs of the runtime: which networks every pod has, which namespaces are open, what the runtime adds. */
export function confs(draft: Draft): void {
  const { random } = draft;
  draft.namespace = random.pick(["default", "team-a", "kube-system", networksNamespace]);
  const version = random.pick(versions);
  const lan = draft.define("lan", { cniVersion: "1.0.0", type: "rec-c", capabilities: { portMappings: true } });
  const home = draft.define("home", { cniVersion: "1.0.0", type: "rec-b" }, "kube-system");
  const away = draft.define("away", { cniVersion: "1.0.0", type: "rec-d" });
  writeFiles(draft);
  draft.conf = {
    cniVersion: draft.chance(0.9) ? random.pick(versions) : random.pick(["0.2.0", "0.1.0", "0.3.0", ""]),
    confDir: "{case}/named",
    ...(draft.chance(0.45)
      ? {
          clusterNetwork: random.pick(clusterNetworks(draft, home, away)),
          ...(draft.chance(0.2) ? { delegates: inline(draft, version) } : {}),
        }
      : { delegates: inline(draft, version) }),
    ...some(draft, 0.3, {
      defaultNetworks: random.pick([
        [],
        [home],
        [away],
        [draft.name("by-name"), home],
        [draft.name("nosuch")],
        ["{case}/place/single.conf"],
        [""],
        null,
      ]),
    }),
    ...some(draft, 0.3, { systemNamespaces: random.pick([[], ["default"], ["team-a", "kube-system"], null, [""]]) }),
    ...some(draft, 0.25, { multusNamespace: random.pick([networksNamespace, "kube-system", "", "", "nosuch"]) }),
    ...some(draft, 0.5, { namespaceIsolation: random.pick([true, true, false]) }),
    ...some(draft, 0.4, {
      globalNamespaces: random.pick([
        networksNamespace,
        "default",
        ` foo,${networksNamespace} ,default`,
        "",
        " ",
        ",",
        `${networksNamespace},`,
        "NETS",
        `\u00a0${networksNamespace}`,
      ]),
    }),
    ...some(draft, 0.1, { auxiliaryCNIChainName: random.pick(["vendor", "absent"]) }),
    ...some(draft, 0.25, {
      runtimeConfig: random.pick([
        { portMappings: [{ hostPort: 8080, containerPort: 80, protocol: "tcp" }] },
        { bandwidth: { ingressRate: 1 } },
        {},
        { mac: "02:00:00:00:00:0b" },
        { ips: ["10.9.0.2/24"] },
      ]),
    }),
    ...some(draft, 0.05, { prevResult: random.pick([null, { cniVersion: "1.0.0" }]) }),
    ...some(draft, 0.1, { retryDeleteOnError: true }),
  };
  if (draft.chance(0.7))
    draft.annotations[networksAnnotation] = random.pick([
      `${networksNamespace}/${lan}`,
      lan,
      `kube-system/${home}`,
      `[{"name":"${lan}","namespace":"${networksNamespace}","portMappings":[{"hostPort":81,"containerPort":80}]}]`,
    ]);
}

function clusterNetworks(draft: Draft, home: string, away: string): readonly string[] {
  const names = [home, home, home, away, draft.name("by-name"), draft.name("list-by-name"), draft.name("nosuch")];
  return [
    ...names,
    ...["folder", "folder/", "single.conf", "list.conflist", "closed.conflist", "empty", "nosuch.conf"].map(
      (path) => `{case}/place/${path}`,
    ),
  ];
}

function inline(draft: Draft, version: string): readonly object[] {
  const { random } = draft;
  const capabilities = draft.chance(0.4)
    ? { capabilities: { portMappings: true, bandwidth: true, mac: true, ips: true } }
    : {};
  const named = (word: string): object => (draft.chance(0.95) ? { name: draft.name(word) } : {});
  const single = (type: string): object => ({ cniVersion: version, ...named(type), type, ...capabilities });
  const list = {
    cniVersion: version,
    ...named("chain"),
    plugins: [{ type: "rec-a" }, { type: "rec-b", ...capabilities, own: { field: 1 } }],
  };
  const odd = random.pick([
    [],
    [{ cniVersion: version, name: "x" }],
    [{ type: "rec-a" }],
    [{ ...single("rec-a"), cniVersion: "9.0.0" }],
    [null],
    [5],
  ]) as object[];
  if (draft.chance(0.06)) return odd;
  return random.pick([[single("rec-a")], [single("rec-a"), single("rec-b")], [list], [list, single("rec-d")]]);
}

/** Folders that the confs name: `named` is looked through by name, `place` holds confs that are named by path. */
function writeFiles(draft: Draft): void {
  const conf = (type: string, name: string, more = {}): string =>
    JSON.stringify({ cniVersion: "1.0.0", name: draft.name(name), type, ...more });
  const list = (name: string, plugins: object, more = {}): string =>
    JSON.stringify({ cniVersion: "1.0.0", name, plugins, ...more });
  Object.assign(draft.files, {
    "named/50-by-name.conf": conf("rec-a", "by-name"),
    "named/60-list.conflist": list(draft.name("list-by-name"), [{ type: "rec-b" }]),
    "place/folder/20-b.conf": conf("rec-b", "b"),
    "place/folder/10-a.conflist": list(draft.name("a"), [{ type: "rec-a" }, { type: "rec-d" }]),
    "place/single.conf": conf("rec-d", "single"),
    "place/list.conflist": list("chain", [{ type: "rec-a", own: { field: 1 } }]),
    "place/chain/10-more.conf": JSON.stringify({ type: "rec-d", more: 1 }),
    "place/closed.conflist": list("chain", [{ type: "rec-a" }], { loadOnlyInlinedPlugins: true }),
    "place/vendor/10-tune.conf": JSON.stringify({ type: "rec-c", tune: 1 }),
    "place/empty/readme.txt": "no conf",
  });
}

function some<T extends object>(draft: Draft, share: number, part: T): Partial<T> {
  return draft.chance(share) ? part : {};
}
