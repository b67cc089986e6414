import type { Entries, Entry } from "../debian/tar.ts";

/** Folders that Debian has at the top only as links into /usr. Packages of Debian 12 still name both. */
const merged: Readonly<Record<string, string>> = {
  bin: "usr/bin",
  sbin: "usr/sbin",
  lib: "usr/lib",
  lib64: "usr/lib64",
};
/** Nothing in an image has the rights of its owner for other users. */
const allowedMode = 0o1777;

/** The files of one layer, as they come together. Folders in between are made when they are missing. */
export class FileTree {
  readonly #entries = new Map<string, Entry>();

  get entries(): Entries {
    return this.#entries;
  }

  /** The links at the top that make /bin and /usr/bin one folder. */
  addMergedLinks(): void {
    for (const [path, target] of Object.entries(merged)) {
      this.folder(target);
      this.#put(path, { kind: "symlink", mode: 0o777, content: new Uint8Array(), target });
    }
  }

  folder(path: string, mode = 0o755): void {
    this.add(path, { kind: "folder", mode, content: new Uint8Array(), target: "" });
  }

  file(path: string, content: string | Uint8Array, mode = 0o644): void {
    this.add(path, { kind: "file", mode, content: Buffer.from(content), target: "" });
  }

  symlink(path: string, target: string): void {
    this.add(path, { kind: "symlink", mode: 0o777, content: new Uint8Array(), target });
  }

  /** Adds an entry of a package, at its place under /usr. */
  add(path: string, entry: Entry): void {
    const place = mergedPath(path);
    if (entry.kind === "folder" && place in merged) return;
    const target = entry.kind === "hardlink" ? mergedPath(entry.target) : entry.target;
    this.#makeParents(place);
    this.#put(place, { ...entry, target, mode: entry.mode & allowedMode });
  }

  #put(path: string, entry: Entry): void {
    const there = this.#entries.get(path);
    if (there !== undefined && there.kind !== entry.kind)
      throw new Error(
        `Cannot assemble the image: /${path} is a ${there.kind} in one package and a ${entry.kind} in another`,
      );
    this.#entries.set(path, entry);
  }

  #makeParents(path: string): void {
    const parts = path.split("/").slice(0, -1);
    for (const [index] of parts.entries()) {
      const parent = parts.slice(0, index + 1).join("/");
      if (!this.#entries.has(parent))
        this.#put(parent, { kind: "folder", mode: 0o755, content: new Uint8Array(), target: "" });
    }
  }
}

function mergedPath(path: string): string {
  const [top = "", ...rest] = path.split("/");
  const target = merged[top];
  return target === undefined || rest.length === 0 ? path : [target, ...rest].join("/");
}
