import { networksAnnotation } from "../compat-cluster.ts";
import { randomResult } from "../compat-random-result.ts";
import { networksNamespace, versions, type Draft } from "./draft.ts";
import { otherCase, spread } from "./odd-values.ts";

/** What plugins print: other versions than asked for, keys in other letters, and what is no result. */
export function results(draft: Draft): void {
  const { random } = draft;
  const [asked, second] = [random.pick(versions), random.pick(versions)];
  draft.conf = {
    cniVersion: random.pick(["0.2.0", "0.3.0", ...versions]),
    delegates: [{ cniVersion: asked, name: draft.name("main"), type: "rec-a" }],
  };
  const isList = draft.chance(0.4);
  const plugins = [{ type: "rec-b" }, { type: "rec-c" }];
  const lan = draft.define("lan", isList ? { cniVersion: second, plugins } : { cniVersion: second, ...plugins[0] });
  draft.annotations[networksAnnotation] = `${networksNamespace}/${lan}`;
  for (const plugin of ["rec-a", "rec-b", "rec-c"] as const)
    draft.answers(plugin, answer(draft, plugin === "rec-a" ? asked : second));
}

function answer(draft: Draft, asked: string): string {
  const { random } = draft;
  const result = randomResult(random);
  // Mostly in the version that was asked for, as plugins do.
  const printed = JSON.stringify(draft.chance(0.7) ? inVersion(result, asked) : result);
  const text = draft.chance(0.15) ? printed.replace(/,"gw":"[^"]*"/u, "") : printed;
  if (draft.chance(0.85)) return text;
  return random.pick([
    () =>
      text.replaceAll(
        /"(interfaces|ips|routes|dns|address|gateway|sandbox|mac|name|cniVersion)":/gu,
        (whole, key: string) => (draft.chance(0.3) ? `"${otherCase(key, random.below(3))}":` : whole),
      ),
    () => random.pick(["null", text.replace(/"address":"[^"]*"/u, '"address":null')]),
    () => spread(text),
    () => ` ${text}\n`,
    () =>
      random.pick(["", "null", "{}", "[]", "5", "x", "{", '{"cniVersion":"9.0.0"}', '{"cniVersion":5}', '{"ips":[]}']),
    () =>
      text.replace(
        /"address":"[^"]*"/u,
        `"address":${random.pick(['"10.9.0.2"', '"x"', "5", "null", '""', '"10.9.0.2/33"', '"10.9.0.2/024"'])}`,
      ),
    () => text.replace(/"interface":-?\d+/u, `"interface":${random.pick(["null", '"0"', "0.0", "1e0", "99", "true"])}`),
    () =>
      text.replace(/"dns":\{[^}]*\}/u, `"dns":${random.pick(["null", "[]", '{"nameservers":"x"}', '{"domain":5}'])}`),
    () => text.replace(/"mac":"[^"]*"/u, `"mac":${random.pick(["null", "5", '"zz"', '""'])}`),
    () => text.replace("{", '{"later":{"a":1e3},'),
    () => `${text}x`,
  ])();
}

/** Addresses have a family before 1.0.0, and none from then on. */
function inVersion(result: Readonly<Record<string, unknown>>, version: string): object {
  const ips = result["ips"] as readonly Record<string, unknown>[] | undefined;
  const isOld = version < "1.0.0";
  const changed = ips?.map(({ version: _family, ...ip }) => ({
    ...(isOld ? { version: String(ip["address"]).includes(":") ? "6" : "4" } : {}),
    ...ip,
  }));
  return { ...result, cniVersion: version, ...(changed === undefined ? {} : { ips: changed }) };
}
