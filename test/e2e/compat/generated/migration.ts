import type { Random } from "../../../hostile/random.ts";
import { networksAnnotation } from "../compat-cluster.ts";
import { Draft, networksNamespace, versions } from "./draft.ts";
import type { GeneratedCase } from "./generated-case.ts";
import { bridge, bridgeList, macvlanList } from "./real-plugins.ts";

/** Where host-local keeps the addresses of pods that move: both see the same folder. */
const folder = "{lab}/ipam-shared";

/** A pod on real networks that one of the two attaches and the other deletes. Multus itself loses ports before DEL, so only Levee deletes pods with ports. */
export function migration(random: Random, [letter, hasPorts]: readonly [string, boolean]): GeneratedCase {
  const draft = new Draft(random, letter);
  draft.conf = { cniVersion: random.pick(versions), delegates: [bridge(draft, "a", random.pick(versions), folder)] };
  const words = ["lan", "dmz"].slice(0, random.pick([1, 1, 2]));
  const elements = words.map((word) => {
    const name = draft.define(word, random.pick([bridgeList, macvlanList])(draft, word, folder));
    const wanted = draft.chance(0.4) ? `,"interface":"if-${word}"` : "";
    const port = 20_000 + random.below(10_000);
    const ports =
      hasPorts && draft.chance(0.3) ? `,"portMappings":[{"hostPort":${port},"containerPort":80,"protocol":"tcp"}]` : "";
    return `{"name":"${name}","namespace":"${networksNamespace}"${wanted}${ports}}`;
  });
  draft.annotations[networksAnnotation] = `[${elements.join(",")}]`;
  return draft.finish("migration with real plugins");
}
