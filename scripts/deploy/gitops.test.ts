import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, test } from "bun:test";
import { parseAllDocuments } from "yaml";
import { definitionHash } from "../../src/guard/approve/spec-hash.ts";
import { shippedDefinitions } from "../../src/guard/approve/shipped-definitions.ts";
import { vendorLockText } from "../../src/cli/vendor/vendor-lock.ts";
import { gitopsFiles, syncWaves } from "./gitops.ts";

const root = resolve(import.meta.dir, "../..");

function read(path: string): string | undefined {
  const full = join(root, path);
  return existsSync(full) ? readFileSync(full, "utf8") : undefined;
}

interface Rendered {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly annotations: Readonly<Record<string, string>> };
  readonly [field: string]: unknown;
}

function objectsOf(text: string): readonly Rendered[] {
  return parseAllDocuments(text).map((document) => document.toJS() as Rendered); // our own manifests
}

const files = gitopsFiles(read);
const objects = [...files.values()].flatMap(objectsOf);

test("gitopsFiles gives every object a wave, and a definition comes before everything else", () => {
  const waves = new Set<string>(Object.values(syncWaves).map(String));
  for (const { kind, metadata } of objects) {
    const wave = metadata.annotations["argocd.argoproj.io/sync-wave"] ?? "";
    expect([kind, waves.has(wave)]).toEqual([kind, true]);
    expect([kind, wave === "-2"]).toEqual([kind, kind === "CustomResourceDefinition"]);
  }
  expect(Object.values(syncWaves)).toEqual([-2, -1, 0, 1, 2, 3]);
});

test("gitopsFiles lets Argo CD delete no definition and no disk, and no daemon unasked", () => {
  const optionsOf = (kind: string): readonly string[] =>
    objects
      .filter((object) => object.kind === kind)
      .map(({ metadata }) => metadata.annotations["argocd.argoproj.io/sync-options"] ?? "");
  expect(optionsOf("CustomResourceDefinition")).toEqual(
    ["", "", "", "", "", "", ""].map(() => "Prune=false,Delete=false"),
  );
  expect(optionsOf("PersistentVolumeClaim")).toEqual(["Prune=false,Delete=false"]);
  expect(optionsOf("DaemonSet")).toEqual(["", ""].map(() => "Prune=confirm,Delete=confirm"));
});

test("gitopsFiles adds annotations only: everything else is as in deploy/", () => {
  const plain = ["install", "guard"].flatMap((name) => objectsOf(read(`deploy/${name}.yaml`) ?? ""));
  const ours = ["levee", "guard"].flatMap((name) =>
    objectsOf(files.get(`deploy/gitops/apps/levee/${name}.yaml`) ?? ""),
  );
  const stripped = ours.map((object) => {
    const { annotations, ...metadata } = object.metadata;
    const others = Object.entries(annotations).filter(([key]) => !key.startsWith("argocd.argoproj.io/sync-"));
    return {
      ...object,
      metadata: others.length === 0 ? metadata : { ...metadata, annotations: Object.fromEntries(others) },
    };
  });
  expect(stripped as readonly object[]).toEqual(plain as readonly object[]);
});

test("the guard takes the definitions of apps/levee for the shipped ones", () => {
  const definitions = objects.filter(({ kind }) => kind === "CustomResourceDefinition");
  const hashes = definitions.map((object) => ({ name: object.metadata.name, hash: definitionHash(object) }));
  for (const shipped of shippedDefinitions) expect(hashes).toContainEqual(shipped);
});

test("gitopsFiles refuses a kind whose wave nobody has thought about", () => {
  const other = (path: string): string | undefined =>
    path === "deploy/crd/decision.yaml" ? "apiVersion: v1\nkind: Secret\nmetadata: {name: a}\n" : read(path);
  expect(() => gitopsFiles(other)).toThrow("Secret of deploy/crd has no sync wave");
});

test("the lock file of the folder is the empty one that levee vendor writes", () => {
  expect(read("deploy/gitops/vendor.lock.yaml")).toBe(vendorLockText([]));
});
