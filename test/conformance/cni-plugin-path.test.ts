// CNI 1.1, CNI_PATH: plugins are executables looked up by type in the listed folders, the first match wins.
import { chmod, copyFile, mkdir, symlink, writeFile } from "node:fs/promises";
import { expect, test } from "bun:test";
import type { Lab } from "../lab/lab.ts";
import { containerId, errorOf, onlyCall, resultOf, startNode } from "./node.ts";

/** Another folder with a plugin that leaves its mark. */
async function folder(lab: Lab, name: string, mark: string): Promise<string> {
  await mkdir(lab.path(name));
  await writeFile(
    lab.path(name, "marker"),
    `#!/bin/sh\nprintf %s ${mark} >"${lab.path("mark")}"\necho '{"cniVersion":"1.1.0"}'\n`,
    { mode: 0o755 },
  );
  return lab.path(name);
}

function mark(lab: Lab): Promise<string> {
  return Bun.file(lab.path("mark")).text();
}

const marker = { delegates: [{ cniVersion: "1.1.0", name: "primary", type: "marker" }] };

test("the first folder of the path wins", async () => {
  await using lab = await startNode({ settings: marker });
  const path = `${await folder(lab, "a", "A")}:${await folder(lab, "b", "B")}`;
  resultOf(await lab.cni("ADD", { containerId: containerId("p"), netns: lab.netns("a"), path }));
  expect(await mark(lab)).toBe("A");
});

test("a file that cannot be executed is passed over, empty and missing folders too", async () => {
  await using lab = await startNode({ settings: marker });
  const path = `:/nowhere:${await folder(lab, "a", "A")}::${await folder(lab, "b", "B")}`;
  await chmod(lab.path("a/marker"), 0o644);
  resultOf(await lab.cni("ADD", { containerId: containerId("p"), netns: lab.netns("a"), path }));
  expect(await mark(lab)).toBe("B");
});

test("binDir is looked at after the runtime's path", async () => {
  await using lab = await startNode({
    prepare: async (lab) => lab.configure({ ...marker, binDir: await folder(lab, "own", "O") }),
  });
  const call = { containerId: containerId("p"), netns: lab.netns("a"), path: "/nowhere" };
  resultOf(await lab.cni("ADD", call));
  expect(await mark(lab)).toBe("O");
  await lab.cni("DEL", call);
  resultOf(await lab.cni("ADD", { ...call, path: await folder(lab, "a", "A") }));
  expect(await mark(lab)).toBe("A");
});

test("plugins get the whole path, for their own delegates", async () => {
  await using lab = await startNode();
  const path = `${lab.path("bin")}:/opt/some/where`;
  resultOf(await lab.cni("ADD", { containerId: containerId("p"), netns: lab.netns("a"), path }));
  expect((await onlyCall(lab, "ADD", "first")).env["CNI_PATH"]).toBe(path);
});

for (const type of ["../bin/first", "/bin/true", "..", "a/b"]) {
  test(`a type like ${type} is refused before anything is looked up`, async () => {
    await using lab = await startNode({ settings: { delegates: [{ cniVersion: "1.1.0", name: "primary", type }] } });
    expect(errorOf(await lab.cni("ADD", { containerId: containerId("p"), netns: lab.netns("a") }))).toMatchObject({
      code: 7,
    });
  });
}

test("a plugin behind a link is found", async () => {
  await using lab = await startNode({ settings: marker });
  await folder(lab, "a", "A");
  await copyFile(lab.path("a/marker"), lab.path("real"));
  await mkdir(lab.path("links"));
  await symlink(lab.path("real"), lab.path("links/marker"));
  resultOf(await lab.cni("ADD", { containerId: containerId("p"), netns: lab.netns("a"), path: lab.path("links") }));
  expect(await mark(lab)).toBe("A");
});
