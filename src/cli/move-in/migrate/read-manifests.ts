import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { parseAllDocuments } from "yaml";
import { usageFailure } from "../../failure.ts";
import { isKubeObject, kindOf, listIn, type KubeObject } from "../../kube-object.ts";

/** A GitOps repository has some hundred files; more means a wrong folder. */
const filesMax = 2_000;
/** Generated manifests with CRDs have about 2 MiB. */
const fileBytesMax = 16 * 1_024 * 1_024;

/** The objects in YAML and JSON files, with the items of lists. Folders are searched recursively. */
export async function readManifests(paths: readonly string[]): Promise<readonly KubeObject[]> {
  const objects: KubeObject[] = [];
  for (const path of paths) objects.push(...(await objectsAt(path)));
  return objects;
}

/** A path without objects is a wrong path, so it must not pass as a good result. */
async function objectsAt(path: string): Promise<readonly KubeObject[]> {
  const files = await manifestsAt(path);
  if (files.length > filesMax)
    throw usageFailure(`Cannot read ${files.length} files: at most ${filesMax} are read`, "name the folder of Multus");
  const objects: KubeObject[] = [];
  for (const file of files) objects.push(...(await objectsOf(file)));
  if (objects.some((object) => kindOf(object) !== "")) return objects;
  throw usageFailure(
    `Cannot use ${path}: it contains no Kubernetes objects in YAML or JSON`,
    "give the file or folder of your manifests",
  );
}

async function manifestsAt(path: string): Promise<readonly string[]> {
  const facts = await stat(path).catch(() => undefined);
  if (facts === undefined) throw usageFailure(`Cannot read ${path}: there is no such file or folder`, "give its path");
  if (!facts.isDirectory()) return [path];
  const entries = await readdir(path, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile() && /\.(?:ya?ml|json)$/u.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .toSorted();
}

async function objectsOf(file: string): Promise<readonly KubeObject[]> {
  const { size } = await stat(file);
  if (size > fileBytesMax)
    throw usageFailure(`Cannot read ${file}: it has ${size} bytes, at most ${fileBytesMax} are read`, "leave it out");
  const documents = parseAllDocuments(await readFile(file, "utf8"), { uniqueKeys: false });
  return documents.flatMap((document) => {
    const [problem] = document.errors;
    if (problem !== undefined)
      throw usageFailure(`Cannot read ${file}: ${problem.message.split("\n", 1)[0] ?? ""}`, "correct or leave it out");
    return itemsOf(document.toJS());
  });
}

/** `kubectl get -o yaml` prints a List. */
function itemsOf(value: unknown): readonly KubeObject[] {
  if (!isKubeObject(value)) return [];
  return kindOf(value).endsWith("List") ? listIn(value, "items").flatMap(itemsOf) : [value];
}
