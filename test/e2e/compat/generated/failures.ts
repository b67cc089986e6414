import { networksAnnotation } from "../compat-cluster.ts";
import { networksNamespace, printing, recorders, type Draft } from "./draft.ts";

/** Plugins that fail: at ADD, at DEL once, in words, without words, at any place of the chains. */
export function failures(draft: Draft): void {
  const { random } = draft;
  draft.conf = {
    delegates: [
      draft.chance(0.5)
        ? { cniVersion: "1.0.0", name: draft.name("main"), type: "rec-a" }
        : { cniVersion: "1.0.0", name: draft.name("main"), plugins: [{ type: "rec-a" }, { type: "rec-b" }] },
    ],
  };
  const lan = draft.define("lan", { cniVersion: random.pick(["0.4.0", "1.0.0"]), type: "rec-c" });
  const list = draft.define("list", {
    cniVersion: random.pick(["0.4.0", "1.0.0"]),
    plugins: [{ type: "rec-c" }, { type: "rec-d" }],
  });
  draft.annotations[networksAnnotation] = [lan, list]
    .filter(() => draft.chance(0.7))
    .map((name) => `${networksNamespace}/${name}`)
    .join(",");
  if (draft.chance(0.75)) draft.files[`${random.pick(recorders)}.ADD`] = failure(draft);
  if (draft.chance(0.35))
    draft.files[`${random.pick(recorders)}.DEL`] =
      `mark="$folder/failed.$CNI_CONTAINERID"\nif [ ! -e "$mark" ]; then : >"$mark"; ${failure(draft)}fi\n`;
}

function failure(draft: Draft): string {
  const { random } = draft;
  const told = random.pick([
    '{"cniVersion":"1.0.0","code":11,"msg":"try later"}',
    '{"code":7,"msg":"bad conf","details":"line 1"}',
    '{"cniVersion":"1.0.0","code":100,"msg":""}',
    "not JSON",
    "",
    "{}",
  ]);
  return random.pick([
    () => `${printing(told)}exit 1\n`,
    () => `${printing(told)}exit 3\n`,
    () => `echo out of words >&2\nexit 1\n`,
    () => `kill -9 $$\n`,
  ])();
}
