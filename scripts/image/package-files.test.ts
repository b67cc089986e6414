import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Pin } from "../debian/pins.ts";
import type { Entries } from "../debian/tar.ts";
import { baseLayer, guardLayer } from "./package-files.ts";

let folder = "";

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "levee-files-"));
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** A real .deb with these files. */
function made(name: string, files: Readonly<Record<string, string>>): [Pin, string] {
  const own = join(folder, name);
  const control = `Package: ${name}\nVersion: 1\nArchitecture: amd64\nMaintainer: a\nDescription: b\n`;
  for (const [path, text] of Object.entries({ ...files, "DEBIAN/control": control })) {
    mkdirSync(dirname(join(own, path)), { recursive: true });
    writeFileSync(join(own, path), text);
    if (path.includes("bin/")) chmodSync(join(own, path), 0o4755);
  }
  const to = join(folder, `${name}.deb`);
  const { status, stderr } = spawnSync("dpkg-deb", ["--root-owner-group", "-b", own, to], { encoding: "utf8" });
  expect(stderr).toBe("");
  expect(status).toBe(0);
  return [{ name, architecture: "amd64", version: "1", sha256: "" }, to];
}

function text(entries: Entries, path: string): string {
  return Buffer.from(entries.get(path)?.content ?? []).toString("utf8");
}

const licence = { "usr/share/doc/libc6/copyright": "c", "usr/share/doc/libc6/changelog.gz": "" };
const libc = { "lib/x86_64-linux-gnu/libc.so.6": "libc", "usr/lib/x86_64-linux-gnu/gconv/A.so": "", "usr/bin/ldd": "" };
const certificates = {
  "usr/share/ca-certificates/mozilla/B.crt": "second\n",
  "usr/share/ca-certificates/mozilla/A.crt": "first\n",
};

describe("baseLayer", () => {
  test("keeps the libraries, the licences and what scanners read, and nothing else of the packages", () => {
    const { entries } = baseLayer(
      new Map([
        made("libc6", { ...libc, ...licence }),
        made("ca-certificates", { ...certificates, "usr/sbin/update-ca-certificates": "" }),
        made("tzdata", { "usr/share/zoneinfo/Europe/Berlin": "z", "usr/share/zoneinfo/right/Europe/Berlin": "" }),
        made("base-files", { "usr/lib/os-release": "ID=debian\n", "etc/motd": "" }),
      ]),
    );
    const files = [...entries].filter(([, { kind }]) => kind === "file").map(([path]) => path);
    expect(files.filter((path) => !path.startsWith("var/lib/dpkg/")).toSorted()).toEqual([
      "etc/group",
      "etc/nsswitch.conf",
      "etc/passwd",
      "etc/ssl/certs/ca-certificates.crt",
      "usr/lib/os-release",
      "usr/lib/x86_64-linux-gnu/libc.so.6",
      "usr/share/doc/libc6/copyright",
      "usr/share/zoneinfo/Europe/Berlin",
    ]);
    expect(text(entries, "etc/ssl/certs/ca-certificates.crt")).toBe("first\nsecond\n");
    expect(text(entries, "var/lib/dpkg/status.d/libc6")).toContain("Version: 1\n");
    expect(entries.get("tmp")?.mode).toBe(0o1777);
  });

  test("refuses a layer without certificates", () => {
    expect(() => baseLayer(new Map([made("libc6", libc)]))).toThrow("ca-certificates has no certificates");
  });

  test("says which package cannot be opened", () => {
    const [pin, file] = made("libc6", libc);
    writeFileSync(file, "no package");
    expect(() => baseLayer(new Map([[pin, file]]))).toThrow(`Cannot open the package ${file}`);
  });
});

test("guardLayer keeps programs but no manual pages, gives none its owner's rights, and has a shell", () => {
  const ssh = { "usr/bin/ssh": "s", "usr/bin/ssh-agent": "", "usr/lib/openssh/ssh-keysign": "", "usr/share/man/x": "" };
  const { entries } = guardLayer(
    new Map([
      made("openssh-client", ssh),
      made("coreutils", { "bin/cat": "c", "bin/ls": "" }),
      made("dash", { "bin/dash": "d" }),
    ]),
  );
  const files = [...entries].filter(([path, { kind }]) => kind !== "folder" && !path.startsWith("var/"));
  expect(files.map(([path]) => path).toSorted()).toEqual(["usr/bin/cat", "usr/bin/dash", "usr/bin/sh", "usr/bin/ssh"]);
  expect(entries.get("usr/bin/ssh")?.mode).toBe(0o755);
  expect(entries.get("usr/bin/sh")).toMatchObject({ kind: "symlink", target: "dash" });
});
