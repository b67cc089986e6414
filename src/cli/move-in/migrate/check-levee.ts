import type { Finding, Level } from "./finding.ts";
import { valueIn, containersOf, kindOf, listIn, nameOf, textIn, titleOf, type KubeObject } from "../../kube-object.ts";

/** DaemonSets that run Levee's daemon or its resident hand. Names do not matter, because the drop-in uses Multus' names. */
export function findLevee(objects: readonly KubeObject[]): readonly KubeObject[] {
  return objects.filter((object) => kindOf(object) === "DaemonSet" && (isDaemon(object) || isHand(object)));
}

/** The progress of a move that has begun. */
export function checkLevee(levees: readonly KubeObject[]): readonly Finding[] {
  return [...levees.filter(isDaemon).map(progress), ...placeholders(levees)];
}

function progress(daemonSet: KubeObject): Finding {
  const wanted = valueIn(daemonSet, "status", "desiredNumberScheduled");
  const moved = valueIn(daemonSet, "status", "updatedNumberScheduled") ?? 0;
  // A manifest has no status.
  if (typeof wanted !== "number" || typeof moved !== "number") return found("ok", daemonSet, "it is Levee already");
  const what = `it is Levee already; ${moved} of ${wanted} ${wanted === 1 ? "node is" : "nodes are"} moved`;
  if (moved >= wanted) return found("ok", daemonSet, what);
  const [namespace = "", name = ""] = nameOf(daemonSet).split("/");
  return found("look", daemonSet, what, `kubectl -n ${namespace} rollout status daemonset/${name}`);
}

/** The files of the repository name a placeholder image. */
export function placeholders(objects: readonly KubeObject[]): readonly Finding[] {
  return objects
    .filter((object) => containersOf(object).some((container) => placeholder.test(textIn(container, "image"))))
    .map((object) =>
      found(
        "blocks",
        object,
        "its image is the placeholder of the repository (sha256:000…), so its pods cannot start",
        "apply the file of the same name from a release: docs/install.md, The release",
      ),
    );
}

const placeholder = /sha256:0{64}$/u;

function isDaemon(object: KubeObject): boolean {
  return commandsOf(object).some(([program = "", command]) => /(?:^|\/)levee$/u.test(program) && command === "daemon");
}

function isHand(object: KubeObject): boolean {
  return commandsOf(object).some(
    (words) => words.some((word) => /(?:^|\/)levee-shim$/u.test(word)) && words.includes("--resident"),
  );
}

function commandsOf(object: KubeObject): readonly (readonly string[])[] {
  return containersOf(object).map((container) =>
    [...listIn(container, "command"), ...listIn(container, "args")].map(String),
  );
}

function found(level: Level, object: KubeObject, what: string, remedy = ""): Finding {
  return { topic: "multus", level, object: titleOf(object), what, remedy };
}
