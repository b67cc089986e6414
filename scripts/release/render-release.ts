import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import type { ReleaseImage } from "../../src/cli/registry/release-facts.ts";
import { registryProblem } from "../../src/cli/registry/image-reference.ts";
import { gitopsFiles } from "../deploy/gitops.ts";
import { renderFolder, type Read } from "../deploy/kustomization.ts";
import { manifest } from "../deploy/manifest.ts";
import { withImage } from "../deploy/rendered.ts";
import { readUnmarked, unreleasedMark } from "../deploy/unreleased.ts";
import { imageHost } from "../image/recipes.ts";
import { imageNamed } from "./images.ts";

const repository = resolve(import.meta.dirname, "../..");

/** Each manifest of a release and the folder that it is rendered from. */
const rendered: Readonly<Record<string, string>> = {
  "crds.yaml": "deploy/crd",
  "install.yaml": "deploy/base",
  "uninstall.yaml": "deploy/overlays/uninstall",
  "multus-drop-in.yaml": "deploy/overlays/multus-drop-in",
  "multus-drop-in-uninstall.yaml": "deploy/overlays/multus-drop-in-uninstall",
  "k3s.yaml": "deploy/overlays/k3s",
  "k3s-uninstall.yaml": "deploy/overlays/k3s-uninstall",
  "openshift.yaml": "deploy/overlays/openshift",
  "openshift-uninstall.yaml": "deploy/overlays/openshift-uninstall",
  "guard.yaml": "deploy/guard",
  "alerts.yaml": "deploy/alerts",
  "grafana.yaml": "deploy/grafana",
};

/** Files that a release has as they are, but for the image. */
const copied: Readonly<Record<string, string>> = {
  "back-to-multus/kustomization.yaml": "deploy/components/back-to-multus/kustomization.yaml",
  "back-to-multus/uninstall-first.yaml": "deploy/components/back-to-multus/uninstall-first.yaml",
  "alerts/levee.rules.yaml": "deploy/alerts/levee.rules.yaml",
  "alerts/alertmanager-inhibit.yaml": "deploy/alerts/alertmanager-inhibit.yaml",
  "alerts/kured-values.yaml": "deploy/alerts/kured-values.yaml",
  "gitops/vendor.lock.yaml": "deploy/gitops/vendor.lock.yaml",
  "gitops/argocd/kustomization.yaml": "deploy/gitops/argocd/kustomization.yaml",
  "gitops/argocd/project.yaml": "deploy/gitops/argocd/project.yaml",
  "gitops/argocd/applicationset.yaml": "deploy/gitops/argocd/applicationset.yaml",
  "gitops/argocd/argocd-cm.yaml": "deploy/gitops/argocd/argocd-cm.yaml",
  "gitops/apps/cdi/kustomization.yaml": "deploy/gitops/apps/cdi/kustomization.yaml",
  "gitops/apps/kubevirt-vms/namespace.yaml": "deploy/gitops/apps/kubevirt-vms/namespace.yaml",
};

/** The only files that name an image. */
const namingImages = /^deploy\/(?:base|guard|components\/back-to-multus)\/kustomization\.yaml$/u;

export interface ManifestOptions {
  readonly images: readonly ReleaseImage[];
  /** The registry and path in front of the images' names, such as `registry.example.com/site`. */
  readonly registry?: string | undefined;
  /** A line about the release at the top of each file. */
  readonly head?: string | undefined;
  readonly read?: Read;
}

/** The text of every manifest, by its name in the release, with the real digests. */
export function releaseManifests(options: ManifestOptions): ReadonlyMap<string, string> {
  const read = readWithImage(options);
  const head = options.head === undefined ? "" : `# ${options.head}\n`;
  const entries = [
    ...Object.entries(rendered).map(([name, folder]) => [name, manifest(head, renderFolder(folder, read))] as const),
    ...[...gitopsFiles(read)].map(([path, text]) => [path.replace(/^deploy\//u, ""), head + text] as const),
    ...Object.entries(copied).map(([name, path]) => [name, head + mustRead(path, read)] as const),
  ];
  for (const [name, text] of entries)
    if (/sha256:0{64}/u.test(text) || text.includes(unreleasedMark))
      throw new Error(`Cannot render ${name}: an image in it still has no digest`);
  return new Map(entries);
}

/** Writes the manifests into a folder. Everything is rendered before the first file is written. */
export function renderRelease(options: ManifestOptions & { readonly outDir: string }): ReadonlyMap<string, string> {
  const files = releaseManifests(options);
  for (const [name, text] of files) {
    mkdirSync(dirname(join(options.outDir, name)), { recursive: true });
    writeFileSync(join(options.outDir, name), text);
  }
  return files;
}

/** The place of an image: registry, name and digest. A node that has loaded the archive finds it there without a registry. */
function placeOf(image: ReleaseImage, registry = imageHost): { newName: string; digest: string } {
  const problem = registryProblem(registry);
  if (problem !== undefined) throw new Error(`Cannot use the registry ${JSON.stringify(registry)}: ${problem}`);
  return { newName: `${registry}/${image.name}`, digest: image.digest };
}

function readWithImage({ images, registry, read = readRepository }: ManifestOptions): Read {
  const place = placeOf(imageNamed(images, "levee"), registry);
  const unmarked = readUnmarked(read);
  return (path) => {
    const text = unmarked(path);
    return text !== undefined && namingImages.test(path) ? withImage(text, place) : text;
  };
}

function readRepository(path: string): string {
  return readFileSync(join(repository, path), "utf8");
}

function mustRead(path: string, read: Read): string {
  const text = read(path);
  if (text === undefined) throw new Error(`Cannot make a release: there is no ${path}`);
  return text;
}
