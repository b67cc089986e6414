import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "bun:test";
import { makePayload } from "./payload.ts";

const folder = mkdtempSync(join(tmpdir(), "levee-payload-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("makePayload puts programs, images, their names and the guest's files on a disk", () => {
  const program = join(folder, "program");
  const archive = join(folder, "archive");
  writeFileSync(program, "#!/bin/sh\n", { mode: 0o600 });
  writeFileSync(archive, "tar");
  const disk = makePayload(folder, {
    programs: { "kubelet": program, "v1/other": program },
    images: [{ archive }, { archive, namedByDigest: "levee.test/one" }],
    files: [
      { path: "etc/one.conf", text: "one\n" },
      { path: "etc/two.conf", linkTo: "/dev/null" },
    ],
  });
  for (const path of ["/bin/kubelet", "/bin/v1/other"]) expect(told(disk, `stat ${path}`)).toContain("Mode:  0755");
  expect(told(disk, "cat /images/0.tar")).toBe("tar");
  expect(told(disk, "cat /import-images").split("\n")).toEqual([
    "set -e",
    "ctr -n k8s.io images import /opt/payload/images/0.tar",
    "ctr -n k8s.io images import --base-name levee.test/one --digests /opt/payload/images/1.tar",
    "",
  ]);
  expect(told(disk, "cat /files/etc/one.conf")).toBe("one\n");
  expect(told(disk, "stat /files/etc/two.conf")).toContain('Fast link dest: "/dev/null"');
});

/** debugfs reads a disk without mounting it. */
function told(disk: string, request: string): string {
  return spawnSync("debugfs", ["-R", request, disk], { encoding: "utf8" }).stdout;
}
