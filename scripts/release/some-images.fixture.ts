import type { ReleaseImage } from "../../src/cli/registry/release-facts.ts";

function image(name: string, digit: string): ReleaseImage {
  const digest = `sha256:${digit.repeat(64)}`;
  return { name, archive: `${name}.oci.tar`, digest, platforms: { "linux/amd64": digest, "linux/arm64": digest } };
}

/** Images as `npm run image` would have built them. */
export const someImages: readonly [ReleaseImage, ReleaseImage] = [image("levee", "a"), image("levee-guard", "b")];
