import type { Cluster } from "../../test/e2e/cluster.ts";
import type { Surroundings } from "../../test/e2e/the-cluster.ts";
import { limits, type Contender } from "./contender.ts";
import { Levee } from "./levee.ts";
import { Multus } from "./multus.ts";
import { Primary } from "./primary.ts";

export type ContenderName = "primary" | "levee" | "levee-shipped" | "multus-v4.2.2" | "multus-v4.3.0";

export const contenderLabels: Readonly<Record<ContenderName, string>> = {
  "primary": "the primary CNI alone",
  "levee": "Levee",
  "levee-shipped": "Levee, limits as shipped",
  "multus-v4.2.2": "Multus v4.2.2",
  "multus-v4.3.0": "Multus v4.3.0",
};

export function makeContender(name: ContenderName, cluster: Cluster, surroundings: Surroundings): Contender {
  switch (name) {
    case "primary":
      return new Primary();
    case "levee":
      return new Levee(cluster, limits);
    case "levee-shipped":
      return new Levee(cluster);
    case "multus-v4.2.2":
    case "multus-v4.3.0": {
      const version = name.slice("multus-".length);
      return new Multus(cluster, version, surroundings.multus[version] ?? "");
    }
  }
}
