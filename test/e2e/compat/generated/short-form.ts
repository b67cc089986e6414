import { networksAnnotation } from "../compat-cluster.ts";
import { networksNamespace, type Draft } from "./draft.ts";
import { blanks, oddInterfaces, plainInterfaces } from "./odd-values.ts";

/** `k8s.v1.cni.cncf.io/networks` as a list of names. */
export function shortForm(draft: Draft): void {
  const { random } = draft;
  draft.namespace = random.pick(["default", "team-a"]);
  draft.define("lan", { cniVersion: "1.0.0", type: "rec-b" });
  draft.define("dmz", { cniVersion: "0.4.0", plugins: [{ type: "rec-c" }, { type: "rec-d" }] });
  draft.define("own", { cniVersion: "1.0.0", type: "rec-d" }, draft.namespace);
  const items = Array.from({ length: random.pick([1, 1, 2, 2, 3]) }, () => item(draft));
  const separator = draft.chance(0.85) ? "," : random.pick([", ", ",,", ";", " ", "\n,"]);
  const text = items.join(separator) + (draft.chance(0.05) ? "," : "");
  draft.annotations[networksAnnotation] = draft.chance(0.04) ? random.pick(blanks) : text;
}

function item(draft: Draft): string {
  const { random } = draft;
  const name = random.pick([
    `${networksNamespace}/${draft.name("lan")}`,
    `${networksNamespace}/${draft.name("dmz")}`,
    draft.name("own"),
  ]);
  const plain = name + (draft.chance(0.3) ? `@${random.pick(plainInterfaces)}` : "");
  if (draft.chance(0.6)) return plain;
  const [blank, place] = [random.pick(blanks), random.below(plain.length + 1)];
  return random.pick([
    () => blank + plain,
    () => plain + blank,
    () => plain.slice(0, place) + blank + plain.slice(place),
    () => plain.replace("/", `${blank}/${blank}`),
    () => `${name}@${random.pick(oddInterfaces)}`,
    () => `${name}@lo`,
    () => `${name}@${random.pick(oddInterfaces)}@x`,
    () => `${name}/x`,
    () => name.toUpperCase(),
    () => `${name}.a`,
    () => `-${name}`,
    () => `/${name}`,
    () => `${networksNamespace}/`,
    () => draft.name("nosuch"),
    () => "",
    () => blank,
  ])();
}
