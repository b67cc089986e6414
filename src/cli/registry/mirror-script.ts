import type { MirrorImage } from "./mirror-images.ts";

/**
 * A script for sh that copies images into a registry. Without a registry it asks for one. An image by tag is not copied:
 * then the script fails at its end, because behind a pipe nobody sees our own exit status.
 */
export function mirrorScript(all: readonly MirrorImage[], registry: string | undefined): string {
  const images = all.filter(({ digest }) => digest !== undefined);
  const left = all.length - images.length;
  const ask =
    registry === undefined
      ? `: "\${REGISTRY:?set it to your registry, such as registry.example.com/site}"`
      : `REGISTRY=${registry}`;
  const lines = images.flatMap(({ image, source, target, platforms }) => [
    `# ${image}${platforms.length === 0 ? "" : ` (${platforms.join(", ")})`}`,
    `skopeo copy --all --preserve-digests ${quoted(source)} "docker://$REGISTRY/${target}"`,
  ]);
  const end =
    left === 0 ? [] : [`echo "${left} of ${all.length} images were not copied: a tag names them" >&2`, "exit 1"];
  return `${["set -eu", ask, ...lines, ...end].join("\n")}\n`;
}

function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/u.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;
}
