/** One entry of a git tree. */
export interface TreeEntry {
  readonly mode: string;
  readonly type: string;
  readonly sha: string;
  readonly path: string;
}

/** Not a link, a folder or a submodule. */
export function isPlainFile({ mode, type }: TreeEntry): boolean {
  return type === "blob" && (mode === "100644" || mode === "100755");
}

/** Parses `git ls-tree -z`. Leaves out names that are not UTF-8, because a plan cannot hold them. */
export function parseTree(bytes: Buffer): readonly TreeEntry[] {
  return splitAtNul(bytes).flatMap((line) => {
    const found = /^(\d{6}) (\w+) ([0-9a-f]{40,64})\t(.+)$/s.exec(line ?? "");
    return found === null
      ? []
      : [{ mode: found[1] ?? "", type: found[2] ?? "", sha: found[3] ?? "", path: found[4] ?? "" }];
  });
}

/** Parts that are not UTF-8 become undefined. */
export function splitAtNul(bytes: Buffer): readonly (string | undefined)[] {
  const parts: (string | undefined)[] = [];
  for (let start = 0; start < bytes.length;) {
    const end = bytes.indexOf(0, start);
    const stop = end === -1 ? bytes.length : end;
    parts.push(textOf(bytes.subarray(start, stop)));
    start = stop + 1;
  }
  return parts;
}

function textOf(bytes: Buffer): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
