import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import { execFileSync, spawnSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parse } from "yaml";
import { fakeShell } from "../fake-shell.fixture.ts";
import { runCli } from "../main.ts";

const digests = { levee: `sha256:${"a".repeat(64)}`, guard: `sha256:${"b".repeat(64)}` };
const platforms = { "linux/amd64": digests.levee, "linux/arm64": digests.guard };
const facts = {
  version: "1.2.3",
  commit: "c".repeat(40),
  images: [
    { name: "levee", archive: "levee.oci.tar", digest: digests.levee, platforms },
    { name: "levee-guard", archive: "levee-guard.oci.tar", digest: digests.guard, platforms },
  ],
  manifests: ["install.yaml", "back/kustomization.yaml"],
};
const install = `# A comment stays.
kind: DaemonSet
spec:
  template:
    spec:
      initContainers:
        - {name: install, image: 'levee.dev/levee@${digests.levee}'}   # so does the layout
      containers:
        - name: daemon
          image: levee.dev/levee@${digests.levee}
          args: [--image=none]
---
kind: ConfigMap
data: {image: levee}
`;
const back = `kind: Component
images:
  - {name: levee, newName: levee.dev/levee, digest: "${digests.levee}"}
`;

const base = mkdtempSync(join(tmpdir(), "levee-registry-"));
afterAll(() => rmSync(base, { recursive: true, force: true }));
const [release, site] = [join(base, "release"), join(base, "site")];

beforeEach(() => {
  for (const folder of [release, site]) rmSync(folder, { recursive: true, force: true });
  mkdirSync(join(release, "back"), { recursive: true });
  writeFileSync(join(release, "release.json"), JSON.stringify(facts));
  writeFileSync(join(release, "install.yaml"), install);
  writeFileSync(join(release, "back/kustomization.yaml"), back);
});

async function levee(...argv: readonly string[]): Promise<{ status: number; out: string; err: string }> {
  const shell = fakeShell({ argv });
  const status = await runCli(shell);
  return { status, out: shell.stdout.text, err: shell.stderr.text };
}

function toSite(registry = "registry.example.com:5000/site"): ReturnType<typeof levee> {
  return levee("manifests", release, "--registry", registry, "--to", site);
}

describe("levee manifests", () => {
  test("writes the registry in front of each image, and changes nothing else", async () => {
    const { status, out, err } = await toSite();
    expect({ status, err }).toEqual({ status: 0, err: "" });
    expect(out).toContain(`  registry.example.com:5000/site/levee@${digests.levee}\n`);
    const written = readFileSync(join(site, "install.yaml"), "utf8");
    expect(written).toBe(install.replaceAll("levee.dev/", "registry.example.com:5000/site/"));
    expect(readFileSync(join(site, "back/kustomization.yaml"), "utf8")).toBe(
      back.replace("levee.dev/levee", "registry.example.com:5000/site/levee"),
    );
    expect(parse(readFileSync(join(site, "helm-values.yaml"), "utf8"))).toEqual({
      image: { repository: "registry.example.com:5000/site/levee", digest: digests.levee },
      guard: { image: { repository: "registry.example.com:5000/site/levee-guard", digest: digests.guard } },
    });
    // The release keeps its checksums.
    expect(readFileSync(join(release, "install.yaml"), "utf8")).toBe(install);
  });

  test("run again it changes nothing; with another registry it replaces the first", async () => {
    await toSite();
    writeFileSync(join(site, "mine.yaml"), "kind: Mine\n");
    const first = readFileSync(join(site, "install.yaml"), "utf8");
    expect((await toSite()).status).toBe(0);
    expect(readFileSync(join(site, "install.yaml"), "utf8")).toBe(first);
    expect((await toSite("other.example.com")).status).toBe(0);
    expect(readFileSync(join(site, "install.yaml"), "utf8")).toBe(
      install.replaceAll("levee.dev/", "other.example.com/"),
    );
    expect(readdirSync(site).toSorted()).toEqual(["back", "helm-values.yaml", "install.yaml", "mine.yaml"]);
  });

  test.each([
    [
      "an image by tag",
      install.replace(`levee@${digests.levee}\n`, "levee:1\n"),
      "install.yaml:10: levee.dev/levee:1 is no image of this release",
    ],
    [
      "an image of others",
      install.replace("image: levee.dev/levee@", "image: other.test/x@"),
      "is no image of this release",
    ],
    ["another digest", install.replaceAll("a".repeat(64), "d".repeat(64)), "is no image of this release"],
    [
      "an image over two lines",
      install.replace("image: levee.dev", "image: >-\n            levee.dev"),
      "not written on one line",
    ],
    [
      "an image outside of a container",
      install.replace("none", `x.test/y@${digests.guard}`),
      "named outside of a container",
    ],
    ["no YAML", "a: [", "Cannot read"],
  ])("refuses %s, and writes nothing", async (_what, text, message) => {
    writeFileSync(join(release, "install.yaml"), text);
    const { status, out, err } = await toSite();
    expect({ status, out }).toEqual({ status: 1, out: "" });
    expect(err).toContain(message);
    expect(existsSync(site)).toBe(false);
  });

  test.each([
    ["{", "Cannot use"],
    [JSON.stringify({ ...facts, version: "new" }), "version must match"],
    [JSON.stringify({ ...facts, manifests: ["../../etc/passwd"] }), "manifests[0] must match"],
    [
      JSON.stringify({ ...facts, images: [{ ...facts.images[0], digest: `sha256:${"0".repeat(64)}` }] }),
      "digest must match",
    ],
  ])("refuses the release.json %s", async (text, message) => {
    writeFileSync(join(release, "release.json"), text);
    const { status, err } = await toSite();
    expect(status).toBe(1);
    expect(err).toContain(message);
    expect(err).toContain("unpack the release again");
  });

  test("says what is missing", async () => {
    rmSync(join(release, "install.yaml"));
    expect((await toSite()).err).toContain("install.yaml, which 1.2.3 has");
    rmSync(join(release, "release.json"));
    expect((await toSite()).err).toContain("give the folder of a release");
  });
});

describe("levee manifests, the folder", () => {
  test("refuses a place in the release, also by another name, and writes nothing", async () => {
    symlinkSync(release, join(base, "latest"));
    for (const to of [release, join(release, "site"), join(release, "a/b"), join(base, "latest/site")]) {
      const { status, err } = await levee("manifests", release, "--registry", "a.test", "--to", to);
      expect(status).toBe(2);
      expect(err).toContain("Cannot write into the release itself");
    }
    expect(readdirSync(release).toSorted()).toEqual(["back", "install.yaml", "release.json"]);
    rmSync(join(base, "latest"));
    // A name that only begins in the same way.
    const beside = join(base, "release-site");
    expect((await levee("manifests", release, "--registry", "a.test", "--to", beside)).status).toBe(0);
  });

  test("says in words where it cannot write, and changes nothing there", async () => {
    await toSite();
    const before = readFileSync(join(site, "install.yaml"), "utf8");
    rmSync(join(site, "helm-values.yaml"));
    mkdirSync(join(site, "helm-values.yaml"));
    const taken = await toSite("other.example.com");
    expect(taken.status).toBe(1);
    expect(taken.err).toContain(`Cannot write ${join(site, "helm-values.yaml")}: it is a folder (folder-unwritable)`);
    expect(readFileSync(join(site, "install.yaml"), "utf8")).toBe(before);
    expect(readdirSync(site).toSorted()).toEqual(["back", "helm-values.yaml", "install.yaml"]);
    const below = join(site, "install.yaml", "x");
    const { status, err } = await levee("manifests", release, "--registry", "a.test", "--to", below);
    expect(status).toBe(1);
    expect(err).toContain(`Cannot write to ${below}: it is a file, or lies below one (folder-unwritable)`);
  });

  test("a full disk leaves the files as they were, and no new folder", async () => {
    const disk = join(base, "disk");
    mkdirSync(disk);
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=16k", "tmpfs", disk]);
    try {
      writeFileSync(join(release, "back/kustomization.yaml"), `${back}# ${"x".repeat(65_536)}\n`);
      writeFileSync(join(disk, "install.yaml"), "mine");
      for (const to of [disk, join(disk, "new")]) {
        const { status, err } = await levee("manifests", release, "--registry", "a.test", "--to", to);
        expect(status).toBe(1);
        expect(err).toContain(`Cannot write to ${to}: the disk is full (folder-unwritable)`);
      }
      expect(readFileSync(join(disk, "install.yaml"), "utf8")).toBe("mine");
      expect(readdirSync(disk).filter((name) => name !== "back")).toEqual(["install.yaml"]);
    } finally {
      execFileSync("umount", [disk]);
    }
  });
});

/** A skopeo that only writes down how it was called. */
function recordingSkopeo(): { readonly path: string; readonly calls: () => string } {
  const [bin, log] = [join(base, "bin"), join(base, "calls")];
  mkdirSync(bin, { recursive: true });
  writeFileSync(join(bin, "skopeo"), `#!/bin/sh\necho "$@" >> ${log}\n`);
  chmodSync(join(bin, "skopeo"), 0o755);
  rmSync(log, { force: true });
  return { path: `${bin}:/usr/bin:/bin`, calls: () => readFileSync(log, "utf8") };
}

describe("levee mirror-list", () => {
  test("prints a script that copies a release's archives", async () => {
    const { status, out, err } = await levee("mirror-list", release, "--registry", "gitea.example.com/infra");
    expect({ status, err }).toEqual({ status: 0, err: "" });
    expect(out).toContain(`# levee@${digests.levee} (linux/amd64, linux/arm64)\n`);
    const skopeo = recordingSkopeo();
    expect(spawnSync("sh", { input: out, env: { PATH: skopeo.path } }).status).toBe(0);
    expect(skopeo.calls().split("\n")[1]).toBe(
      `copy --all --preserve-digests oci-archive:${release}/levee-guard.oci.tar docker://gitea.example.com/infra/levee-guard:1.2.3`,
    );
  });

  test("without a registry the script asks for one", async () => {
    const { out } = await levee("mirror-list", release);
    const { status, stderr } = spawnSync("sh", { input: out, env: { PATH: "/usr/bin:/bin" }, encoding: "utf8" });
    expect(status).not.toBe(0);
    expect(stderr).toContain("REGISTRY: set it to your registry");
  });

  const operator = `kind: Deployment
spec:
  template:
    spec:
      containers:
        - image: quay.test/kubevirt/cdi-operator@${digests.levee}
          env:
            - {name: CONTROLLER_IMAGE, value: "quay.test/kubevirt/cdi-controller:v1@${digests.guard}"}
            - {name: PAGE, value: "https://quay.test/x:1"}
            - {name: GROUP, value: cdi.kubevirt.io/v1beta1}
`;

  test("finds the images of other manifests, also in variables", async () => {
    const folder = join(base, "apps");
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "operator.yaml"), operator);
    const { status, out } = await levee("mirror-list", folder, release, "-o", "name");
    expect(status).toBe(0);
    expect(out.split("\n").slice(0, 3)).toEqual([
      `quay.test/kubevirt/cdi-operator@${digests.levee}`,
      `quay.test/kubevirt/cdi-controller:v1@${digests.guard}`,
      `levee@${digests.levee}`,
    ]);
    const script = (await levee("mirror-list", folder, "--registry", "a.test/b")).out;
    expect(script).toContain(
      `docker://quay.test/kubevirt/cdi-operator@${digests.levee} "docker://$REGISTRY/kubevirt/cdi-operator:sha256-${"a".repeat(16)}"`,
    );
    expect(script).toContain(`cdi-controller@${digests.guard} "docker://$REGISTRY/kubevirt/cdi-controller:v1"`);
  });

  test("lists what is pinned, and fails for an image by tag", async () => {
    const file = join(base, "tagged.yaml");
    writeFileSync(file, operator.replace(`cdi-operator@${digests.levee}`, "cdi-operator:v1.65.0"));
    const { status, out, err } = await levee("mirror-list", file, "-o", "name");
    expect(status).toBe(1);
    expect(out).toBe(`quay.test/kubevirt/cdi-controller:v1@${digests.guard}\n`);
    expect(err).toContain("named by a tag, which can move (image-by-tag)");
    expect(err).toContain(`| quay.test/kubevirt/cdi-operator:v1.65.0 in ${file}`);
    expect(err).toContain("skopeo inspect --format '{{.Digest}}' docker://quay.test/kubevirt/cdi-operator:v1.65.0");
    // Behind a pipe the script itself has to say so.
    const script = (await levee("mirror-list", file, "--registry", "a.test/b")).out;
    const skopeo = recordingSkopeo();
    const ran = spawnSync("sh", { input: script, env: { PATH: skopeo.path }, encoding: "utf8" });
    expect([ran.status, ran.stderr]).toEqual([1, "1 of 2 images were not copied: a tag names them\n"]);
    expect(skopeo.calls()).toContain("cdi-controller");
  });

  test("puts the images of a kustomization together", async () => {
    const file = join(base, "kustomization.yaml");
    const entries = [
      `{name: operator, newName: quay.test/x/operator, digest: "${digests.levee}"}`,
      `{name: quay.test/x/proxy, newTag: v2, digest: "${digests.guard}"}`,
      "{name: quay.test/x/other, newName: quay.test/y/other}",
    ];
    writeFileSync(file, `images:\n${entries.map((entry) => `  - ${entry}\n`).join("")}`);
    expect(await levee("mirror-list", file, "-o", "name")).toEqual({
      status: 0,
      out: `quay.test/x/operator@${digests.levee}\nquay.test/x/proxy:v2@${digests.guard}\n`,
      err: "",
    });
  });
});

describe("levee mirror-list, names", () => {
  test("does not take the name that a kustomization replaces for an image", async () => {
    const folder = join(base, "component");
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "kustomization.yaml"), back.replace("levee.dev", "a.test"));
    writeFileSync(join(folder, "patch.yaml"), "- {op: add, path: /x, value: {image: levee}}\n");
    expect(await levee("mirror-list", folder, "-o", "name")).toEqual({
      status: 0,
      out: `a.test/levee@${digests.levee}\n`,
      err: "",
    });
    // Beside another kustomization it is one.
    writeFileSync(join(base, "patch.yaml"), "- {op: add, path: /x, value: {image: levee}}\n");
    expect((await levee("mirror-list", join(base, "patch.yaml"))).err).toContain("named by a tag");
  });

  test("refuses the name that the images of a release have in no registry", async () => {
    const { status, out, err } = await levee("mirror-list", join(release, "install.yaml"));
    expect({ status, out }).toEqual({ status: 1, out: "" });
    expect(err).toContain("no registry has it under this name");
    expect(err).toContain("try: give the folder of the release");
  });

  test("refuses two images that would get one name in the mirror", async () => {
    const file = join(base, "two.yaml");
    const container = (image: string): string => `kind: Pod\nspec: {containers: [{image: "${image}"}]}\n`;
    const [one, other] = [`quay.test/x/y:v1@${digests.levee}`, `ghcr.test/x/y:v1@${digests.guard}`];
    writeFileSync(file, `${container(one)}---\n${container(other)}`);
    const { status, out, err } = await levee("mirror-list", file);
    expect({ status, out }).toEqual({ status: 1, out: "" });
    expect(err).toContain(`Cannot mirror ${one} and ${other}: both would be x/y:v1`);
    // The same image under two addresses is one copy.
    writeFileSync(file, `${container(one)}---\n${container(other.replace(digests.guard, digests.levee))}`);
    expect((await levee("mirror-list", file)).status).toBe(0);
  });

  test("refuses the zeros of a repository without a release", async () => {
    const file = join(base, "zeros.yaml");
    writeFileSync(file, `kind: Pod\nspec: {containers: [{image: "levee@sha256:${"0".repeat(64)}"}]}\n`);
    const { status, out, err } = await levee("mirror-list", file);
    expect({ status, out }).toEqual({ status: 1, out: "" });
    expect(err).toContain("zeros stand where its digest is missing");
  });

  test("refuses a folder that names no image", async () => {
    const folder = join(base, "empty");
    mkdirSync(folder, { recursive: true });
    expect(await levee("mirror-list", folder)).toMatchObject({ status: 2, out: "" });
  });
});
