import { defaultNetworkAnnotation } from "../../../conformance/node.ts";
import { networksAnnotation } from "../compat-cluster.ts";
import { networksNamespace, type Draft } from "./draft.ts";
import { blanks } from "./odd-values.ts";

/** The annotation `v1.multus-cni.io/default-network`, and `default-route`. */
export function defaultNetwork(draft: Draft): void {
  const { random } = draft;
  draft.namespace = random.pick(["default", "team-a", "kube-system"]);
  const home = draft.define("home", { cniVersion: "1.0.0", type: "rec-b" }, "kube-system");
  const lan = draft.define("lan", { cniVersion: "1.0.0", type: "rec-c", capabilities: { ips: true, mac: true } });
  const list = draft.define("list", { cniVersion: "1.1.0", plugins: [{ type: "rec-c" }, { type: "rec-d" }] });
  if (draft.chance(0.3)) draft.conf = { clusterNetwork: home };
  if (draft.chance(0.8))
    draft.annotations[defaultNetworkAnnotation] = random.pick([
      home,
      `kube-system/${home}`,
      `${networksNamespace}/${lan}`,
      `${networksNamespace}/${list}@main0`,
      lan,
      `${random.pick(blanks)}${home}`,
      `[{"name":"${home}"}]`,
      `[{"name":"${lan}","namespace":"${networksNamespace}","mac":"02:00:00:00:00:01","ips":["10.9.0.2/24"]}]`,
      `[{"name":"${lan}","namespace":"${networksNamespace}","interface":"main0","cni-args":{"a":1}}]`,
      `${home},${home}`,
      "[]",
      "[null]",
      "",
      " ",
      draft.name("nosuch"),
    ]);
  if (draft.chance(0.7))
    draft.annotations[networksAnnotation] = `[${[lan, list]
      .filter(() => draft.chance(0.7))
      .map((name) => `{"name":"${name}","namespace":"${networksNamespace}"${route(draft)}}`)
      .join(",")}]`;
}

function route(draft: Draft): string {
  const values = ['["10.9.0.1"]', '["fd00::1"]', '["10.9.0.1","fd00::1"]', '["10.9.0.1","10.9.0.2"]', "[]", "null"];
  return draft.chance(0.5) ? `,"default-route":${draft.random.pick(values)}` : "";
}
