import { expect, test } from "bun:test";
import { builtinCheck, type BuiltinFacts } from "./builtin-rule.ts";

const judged = [
  { name: "bridge", version: "1.9.1" },
  { name: "host-local", version: "1.1.1" },
  { name: "vlan", version: undefined },
];
const absent = ["macvlan", "static"];

test.each<[string, BuiltinFacts]>([
  ["all run as programs: builtinPlugins is off", { choice: "off", judged, absent }],
  ["all run as programs: builtinPlugins is an empty list", { choice: [], judged, absent }],
  [
    "built in, whatever program is there: bridge, static; all others run as programs",
    { choice: ["bridge", "static"], judged, absent },
  ],
  ["built in where a program is missing; no program was looked at yet", { choice: "auto", judged: [], absent: [] }],
  [
    "built in instead of upstream's programs: bridge 1.9.1, host-local 1.1.1; as programs, because they are not known upstream ones: vlan",
    { choice: "auto", judged, absent: [] },
  ],
  [
    "built in instead of upstream's programs: bridge 1.9.1, host-local 1.1.1; built in, as no program is there: macvlan, static; as programs, because they are not known upstream ones: vlan",
    { choice: "auto", judged, absent },
  ],
  ["built in, as no program is there: macvlan, static", { choice: "auto", judged: [], absent }],
])("builtinCheck says: %s", (detail, facts) => {
  expect(builtinCheck(facts)).toMatchObject({ name: "plugins", state: "ok", detail });
});
