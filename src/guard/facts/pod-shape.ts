import { createHash } from "node:crypto";
import { firstChars } from "../../base/short-text.ts";
import { objectOf, textOf, type JsonObject } from "../../kube/client/json-fields.ts";
import { objectsOf } from "../json-values.ts";

/** 64 bits are enough to tell the shapes of one namespace apart. */
const hashChars = 16;
/** The API server allows 253. */
const generateNameCharsMax = 253;

/**
 * What pods of one template have in common: the prefix of their generated names (or else their label keys) and how their
 * spec is built. Label values do not count: an operator may give each pod its own session or user. Pods that people
 * create by hand have different specs.
 */
export function podShape(metadata: JsonObject, spec: JsonObject): string {
  const generateName = firstChars(textOf(metadata["generateName"]), generateNameCharsMax);
  const family =
    generateName === "" ? `labels ${hash(Object.keys(objectOf(metadata["labels"])).toSorted())}` : generateName;
  return `${family} spec ${podSpecHash(spec)}`;
}

/**
 * Covers the fields that a template fixes: images, commands, sizes, mounts, kinds of volumes. It leaves out the fields
 * that differ between pods of one template: node, values of variables, arguments and generated names.
 */
function podSpecHash(spec: JsonObject): string {
  return hash([
    `account ${textOf(spec["serviceAccountName"])}`,
    `priority ${textOf(spec["priorityClassName"])}`,
    `hostNetwork ${spec["hostNetwork"] === true}`,
    ...objectsOf(spec["initContainers"]).flatMap((container) => containerLines("init", container)),
    ...objectsOf(spec["containers"]).flatMap((container) => containerLines("container", container)),
    ...objectsOf(spec["volumes"]).map(volumeLine),
  ]);
}

function containerLines(kind: string, container: JsonObject): readonly string[] {
  const resources = objectOf(container["resources"]);
  return [
    `${kind} ${textOf(container["name"])} ${textOf(container["image"])}`,
    `command ${JSON.stringify(container["command"] ?? [])}`,
    `limits ${memberLines(resources["limits"]).join(" ")}`,
    `requests ${memberLines(resources["requests"]).join(" ")}`,
    `variables ${namesOf(container["env"]).join(" ")}`,
    `mounts ${objectsOf(container["volumeMounts"])
      .map((mount) => textOf(mount["mountPath"]))
      .join(" ")}`,
  ];
}

/** Only the kind: each pod has its own names of claims and generated tokens. */
function volumeLine(volume: JsonObject): string {
  return `volume ${Object.keys(volume)
    .filter((key) => key !== "name")
    .join(" ")}`;
}

function memberLines(value: unknown): readonly string[] {
  return Object.entries(objectOf(value))
    .map(([key, member]) => `${JSON.stringify(key)}=${JSON.stringify(member)}`)
    .toSorted();
}

function namesOf(value: unknown): readonly string[] {
  return objectsOf(value).map((entry) => textOf(entry["name"]));
}

function hash(lines: readonly string[]): string {
  return createHash("sha256").update(lines.join("\n"), "utf8").digest("hex").slice(0, hashChars);
}
