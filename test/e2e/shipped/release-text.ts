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
