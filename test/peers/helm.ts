import { join } from "node:path";
import { modulePrograms } from "./module-programs.ts";
import { isBuilt, peerFolder, type Peer } from "./peer.ts";

const version = "v3.22.0";

/** Helm, to compare what the chart makes with what the manifests say; built once. */
export function helm(): Promise<Peer> {
  return modulePrograms({ name: "helm", module: "helm.sh/helm/v3", version, packages: ["cmd/helm"] });
}

/** The program when it has been built already, or undefined: the ordinary tests build nothing. */
export function builtHelm(): string | undefined {
  const bin = join(peerFolder("helm", version), "bin");
  return isBuilt(bin, ["helm"]) ? join(bin, "helm") : undefined;
}
