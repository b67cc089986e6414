/** The archives of `npm run image` in the hands of the programs that docs/install.md names, each with storage of its own. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import type { BuiltImage, Images } from "../../scripts/image/made-images.ts";
import { version } from "../../src/base/version.ts";
import { newContainerd } from "../peers/containerd.ts";
import { nerdctl } from "../peers/nerdctl.ts";
import { builtFolder } from "../peers/peer.ts";
import { Program } from "./program.ts";
import { run } from "./run.ts";

setDefaultTimeout(240_000);

const images = resolve(import.meta.dir, "../../dist/image");
const architecture = process.arch === "arm64" ? "arm64" : "amd64";
let folder = "";
let built: Images;

beforeAll(() => {
  // Short, because podman takes a path of at most 50 characters.
  folder = mkdtempSync(join(tmpdir(), "loads-"));
  built = JSON.parse(readFileSync(join(images, "images.json"), "utf8")) as Images; // as buildImages writes it
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

function archiveOf({ archive }: BuiltImage): string {
  return join(images, archive);
}

function nameOf({ name }: BuiltImage): string {
  return `levee.dev/${name}:${version}`;
}

/** The name by which manifests ask for the image. */
function pinnedNameOf({ name, digest }: BuiltImage): string {
  return `levee.dev/${name}@${digest}`;
}

/** A containerd with folders and a socket of its own, and nothing for Kubernetes. */
async function startContainerd(name: string, bin?: string): Promise<{ program: Program; socket: string; ctr: string }> {
  const own = join(folder, name);
  const socket = join(own, "containerd.sock");
  const config = join(folder, `${name}.toml`);
  const paths = `root = "${own}/root"\nstate = "${own}/state"\n`;
  const disabled = `disabled_plugins = ["io.containerd.grpc.v1.cri", "io.containerd.cri.v1.images"]\n`;
  writeFileSync(config, `version = 2\n${paths}${disabled}[grpc]\n  address = "${socket}"\n`);
  const [containerd, ctr] = ["containerd", "ctr"].map((each) => (bin === undefined ? each : join(bin, each)));
  const program = new Program(own, "log", { command: [containerd ?? "", "--config", config] });
  program.start();
  await program.untilUp("answers", async () => {
    if (!existsSync(socket)) return false;
    run(ctr ?? "", "--address", socket, "version");
    return true;
  });
  return { program, socket, ctr: ctr ?? "" };
}

describe.each([
  ["of Debian", "debian", () => Promise.resolve(undefined)],
  ["2.x", "newer", async () => builtFolder(await newContainerd())],
] as const)("containerd %s", (_which, name, binOf) => {
  let socket = "";
  let program: Program;
  let ctrProgram = "";

  function ctr(...args: readonly string[]): string {
    return run(ctrProgram, "--address", socket, "--namespace", "k8s.io", ...args);
  }

  beforeAll(async () => {
    ({ program, socket, ctr: ctrProgram } = await startContainerd(name, await binOf()));
  });

  afterAll(() => program.stop());

  test("ctr imports and unpacks the archives, and a tag gives the name of the manifests", () => {
    for (const image of built.images) {
      // Each layer is unpacked and compared with its hash.
      ctr("images", "import", archiveOf(image));
      ctr("images", "tag", nameOf(image), pinnedNameOf(image));
      const line = ctr("images", "ls")
        .split("\n")
        .find((each) => each.startsWith(`${pinnedNameOf(image)} `));
      expect(line).toContain(` ${image.digest} `);
      expect(line).toContain("linux/amd64,linux/arm64");
    }
    expect(ctr("images", "check")).not.toMatch(/incomplete|false/u);
  });

  test("nerdctl loads the archive", async () => {
    const program = join(builtFolder(await nerdctl()), "nerdctl");
    const own = ["--address", socket, "--namespace", "other", "--data-root", join(folder, `nerdctl-${name}`)];
    const [image] = built.images;
    if (image === undefined) throw new Error("images.json has no image");
    expect(run(program, ...own, "load", "-i", archiveOf(image))).toContain(nameOf(image));
    const listed = run(ctrProgram, "--address", socket, "--namespace", "other", "images", "ls");
    expect(listed).toMatch(new RegExp(`^${nameOf(image).replaceAll(".", "\\.")} .* ${image.digest} `, "mu"));
  });
});

describe("the storage that podman and CRI-O share", () => {
  const storage = (name: string): readonly string[] => [join(folder, name, "root"), join(folder, name, "run")];

  function podman(name: string, ...args: readonly string[]): string {
    const [root = "", runRoot = ""] = storage(name);
    return run("podman", "--root", root, "--runroot", runRoot, "--storage-driver", "vfs", ...args);
  }

  test("podman loads the archives, under their names and digests", () => {
    for (const image of built.images) {
      expect(podman("podman", "load", "-i", archiveOf(image))).toContain(nameOf(image));
      podman("podman", "image", "exists", pinnedNameOf(image));
      const inspected = podman("podman", "image", "inspect", "--format", "{{.Architecture}} {{.User}}", nameOf(image));
      expect(inspected.trim()).toBe(`${architecture} ${image.name === "levee" ? "0:0" : "65532:65532"}`);
    }
  });

  test("skopeo copies an archive there", () => {
    const [image] = built.images;
    if (image === undefined) throw new Error("images.json has no image");
    const [root, runRoot] = storage("skopeo");
    const to = `containers-storage:[vfs@${root}+${runRoot}]${nameOf(image)}`;
    run("skopeo", "--insecure-policy", "copy", `oci-archive:${archiveOf(image)}`, to);
    podman("skopeo", "image", "exists", pinnedNameOf(image));
  });
});

test("skopeo inspects each platform of the archives", () => {
  for (const image of built.images)
    for (const platform of Object.keys(image.platforms)) {
      const found = JSON.parse(
        run("skopeo", "--override-arch", platform.replace("linux/", ""), "inspect", `oci-archive:${archiveOf(image)}`),
      ) as { readonly Architecture: string; readonly Digest: string; readonly Labels: Record<string, string> };
      expect(`linux/${found.Architecture}`).toBe(platform);
      expect(found.Digest).toBe(image.digest);
      expect(found.Labels["org.opencontainers.image.version"]).toBe(version);
    }
});
