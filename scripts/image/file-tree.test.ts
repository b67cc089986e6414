import { describe, expect, test } from "bun:test";
import { FileTree } from "./file-tree.ts";

describe("FileTree", () => {
  test("puts files of /bin and /lib under /usr and makes the folders in between", () => {
    const tree = new FileTree();
    tree.addMergedLinks();
    tree.file("lib/x86_64-linux-gnu/libc.so.6", "c");
    tree.folder("bin");
    expect(tree.entries.get("lib")).toMatchObject({ kind: "symlink", target: "usr/lib" });
    expect(tree.entries.get("bin")).toMatchObject({ kind: "symlink", target: "usr/bin" });
    expect(tree.entries.get("usr/lib/x86_64-linux-gnu")).toMatchObject({ kind: "folder", mode: 0o755 });
    expect(tree.entries.get("usr/lib/x86_64-linux-gnu/libc.so.6")).toMatchObject({ kind: "file" });
    expect(tree.entries.has("lib/x86_64-linux-gnu/libc.so.6")).toBe(false);
  });

  test("takes away the owner's rights for other users, keeps those of /tmp, and moves targets of hard links", () => {
    const tree = new FileTree();
    tree.file("usr/bin/su", "", 0o4755);
    tree.folder("tmp", 0o1777);
    tree.add("bin/b", { kind: "hardlink", mode: 0o755, content: new Uint8Array(), target: "bin/a" });
    expect(tree.entries.get("usr/bin/su")?.mode).toBe(0o755);
    expect(tree.entries.get("tmp")?.mode).toBe(0o1777);
    expect(tree.entries.get("usr/bin/b")?.target).toBe("usr/bin/a");
  });

  test("refuses a path that is a file in one package and a folder in another", () => {
    const tree = new FileTree();
    tree.file("etc/x", "");
    expect(() => tree.folder("etc/x")).toThrow("/etc/x is a file in one package and a folder in another");
  });
});
