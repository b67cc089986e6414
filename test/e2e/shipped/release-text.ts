import { releaseManifests } from "../../../scripts/release/render-release.ts";

const digest = `sha256:${"1".repeat(64)}`;
const image = { name: "levee", archive: "levee.oci.tar", digest, platforms: {} };
const manifests = releaseManifests({ images: [image] });

/** A manifest as a release has it, with an image that is nowhere. The API server refuses the files of deploy/. */
export function releaseText(name: string): string {
  const text = manifests.get(name);
  if (text === undefined) throw new Error(`A release has no ${name}: it has ${[...manifests.keys()].join(", ")}`);
  return text;
}

/** The files of one of its folders, by their path in it. */
export function releaseFolder(name: string): Readonly<Record<string, string>> {
  const files = [...manifests].filter(([path]) => path.startsWith(`${name}/`));
  return Object.fromEntries(files.map(([path, text]) => [path.slice(name.length + 1), text]));
}
