import { createHash } from "node:crypto";
import { firstChars } from "../../base/short-text.ts";
import { objectOf, textOf, type JsonObject } from "../../kube/client/json-fields.ts";
import { objectsOf } from "./json-values.ts";

/** 64 bits tell the shapes of one namespace apart. */
const hashChars = 16;
/** Beyond that a name shows nothing more; the API server allows 253. */
const generateNameCharsMax = 253;

/**
 * What pods of one make have in common: the name they are generated from, or else the keys of their labels, and how their
 * spec is built. Values of labels do not count: an operator may give each pod its own, such as a session or a user. Pods
 * that people make by hand differ in what they are made of.
 */
export function podShape(metadata: JsonObject, spec: JsonObject): string {
  const generateName = firstChars(textOf(metadata["generateName"]), generateNameCharsMax);
  const family =
    generateName === "" ? `labels ${hash(Object.keys(objectOf(metadata["labels"])).toSorted())}` : generateName;
  return `${family} spec ${podSpecHash(spec)}`;
}

/**
 * Over what a template fixes: images, commands, sizes, mounts, volumes by kind. Left out is what differs between pods of
 * one template: the node, values of variables, arguments, and names that the API server makes up.
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

/** Its kind only: claims and generated tokens have a name of their own in each pod. */
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
