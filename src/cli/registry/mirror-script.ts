import type { MirrorImage } from "./mirror-images.ts";

/** A script for sh that copies images into a registry. Without a registry it asks for one. */
export function mirrorScript(images: readonly MirrorImage[], registry: string | undefined): string {
  const ask =
    registry === undefined
      ? `: "\${REGISTRY:?set it to your registry, such as registry.example.com/site}"`
      : `REGISTRY=${registry}`;
  const lines = images.flatMap(({ image, source, target, platforms }) => [
    `# ${image}${platforms.length === 0 ? "" : ` (${platforms.join(", ")})`}`,
    `skopeo copy --all --preserve-digests ${quoted(source)} "docker://$REGISTRY/${target}"`,
  ]);
  return `${["set -eu", ask, ...lines].join("\n")}\n`;
}

function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/u.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;
}
