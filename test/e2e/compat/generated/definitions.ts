import { networksAnnotation } from "../compat-cluster.ts";
import { networksNamespace, plainResult, versions, type Draft } from "./draft.ts";
import { jsonObject, otherCase, spread } from "./odd-values.ts";

type Member = readonly [string, string];

/** Network definitions as people and programs write them, and as nobody should. */
export function definitions(draft: Draft): void {
  const { random } = draft;
  const words = ["lan", "dmz"].slice(0, random.pick([1, 1, 2]));
  const names = words.map((word, index) => draft.define(word, text(draft, index)));
  draft.annotations[networksAnnotation] = names.map((name) => `${networksNamespace}/${name}`).join(",");
}

function text(draft: Draft, index: number): string | undefined {
  const { random } = draft;
  const version = random.pick(versions);
  for (const plugin of ["rec-b", "rec-c", "rec-d"] as const) draft.answers(plugin, plainResult(version));
  if (draft.chance(0.01)) return undefined;
  if (draft.chance(0.03)) return random.pick(["", " ", "{}", "[]", "null", "5", '{"cniVersion":', "{}{}"]);
  const members = random.pick([single, single, list])(draft, version, index);
  const named = draft.chance(0.3) ? members : [["name", JSON.stringify(draft.name("conf"))] as const, ...members];
  const recased = named.map(([key, value]): Member => [
    draft.chance(0.05) ? otherCase(key, random.below(3)) : key,
    value,
  ]);
  if (draft.chance(0.05)) recased.splice(random.below(recased.length), 1);
  const whole = jsonObject(recased);
  if (draft.chance(0.1)) return spread(whole);
  return draft.chance(0.04) ? `${whole}${random.pick([" ", "\n", "x", "}"])}` : whole;
}

function single(draft: Draft, version: string, index: number): readonly Member[] {
  return [["cniVersion", cniVersion(draft, version)], ...plugin(draft, index === 0 ? "rec-b" : "rec-c")];
}

function list(draft: Draft, version: string): readonly Member[] {
  const { random } = draft;
  const types = ["rec-b", "rec-c", "rec-d"].slice(0, random.pick([1, 2, 2, 3]));
  const plugins = `[${types.map((type) => jsonObject(plugin(draft, type))).join(",")}]`;
  const odd = ["[]", "{}", "null", "[null]", "[5]", '[{"type":""}]', "[{}]"];
  return [
    ["cniVersion", cniVersion(draft, version)],
    ["plugins", draft.chance(0.95) ? plugins : random.pick(odd)],
    ...some(draft, 0.15, ["disableCheck", random.pick(["true", "false", '"true"', '"x"', "1"])]),
    ...some(draft, 0.1, ["disableGC", random.pick(["true", '"false"'])]),
    ...some(draft, 0.1, ["loadOnlyInlinedPlugins", random.pick(["true", "1"])]),
    ...some(draft, 0.05, ["cniVersions", '["0.4.0","1.0.0"]']),
  ];
}

/** One plugin's own members. */
function plugin(draft: Draft, type: string): readonly Member[] {
  const { random } = draft;
  return [
    [
      "type",
      draft.chance(0.97) ? JSON.stringify(type) : random.pick(['""', "5", "null", '"nosuch"', '"../rec-b"', '"REC-B"']),
    ],
    ...some(draft, 0.25, [
      "capabilities",
      random.pick(['{"mac":true,"ips":true}', '{"mac":false}', "{}", "null", "[]", '{"mac":"yes"}', '{"MAC":true}']),
    ]),
    ...some(draft, 0.2, ["mtu", random.pick(["1500", "1500.0", "15e2", '"1500"', "9007199254740993", "1e400"])]),
    ...some(draft, 0.2, ["ipam", random.pick(['{"type":"x"}', "{}", "null", "5", "[]", '{"type":5}'])]),
    ...some(draft, 0.15, [
      "dns",
      random.pick(['{"nameservers":["10.0.0.1"]}', "{}", "null", "[]", '{"search":"x"}', '{"domain":5}']),
    ]),
    ...some(draft, 0.15, ["args", random.pick(['{"cni":{"a":1}}', "{}", "null", "[]", '"x"'])]),
    ...some(draft, 0.1, ["runtimeConfig", random.pick(['{"mac":"02:00:00:00:00:0a"}', "{}", "null", "5"])]),
    ...some(draft, 0.1, [
      "prevResult",
      random.pick(["null", "{}", '{"cniVersion":"1.0.0"}', '{"cniVersion":"9.0.0"}', "5"]),
    ]),
    ...some(draft, 0.2, [
      "odd key \u00e9<&>",
      random.pick(['"\u2028<&>"', '{"z":1,"a":[true,null]}', '"\\ud83d\\ude00"', "1e3", "-0"]),
    ]),
    ...some(draft, 0.1, ["cniVersion", '"0.3.1"']),
  ];
}

function cniVersion(draft: Draft, version: string): string {
  const odd = ['""', '"0.1.0"', '"0.2.0"', '"0.3.0"', '"2.0.0"', '"1.0"', '" 1.0.0"', '"v1.0.0"', "1.0", "null", '"x"'];
  return draft.chance(0.88) ? JSON.stringify(version) : draft.random.pick(odd);
}

function some(draft: Draft, share: number, member: Member): readonly Member[] {
  return draft.chance(share) ? [member] : [];
}
