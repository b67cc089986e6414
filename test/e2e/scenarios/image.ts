/** The images of `npm run image`, as a site gets them: loaded from their archives, and run by containerd and runc. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import type { BuiltImage, Images } from "../../../scripts/image/made-images.ts";
import { daemonEnv } from "../../../src/config/daemon-env.ts";
import { version } from "../../../src/base/version.ts";
import type { NodeAnswer } from "../../../src/wire/node-view.ts";
import { ask } from "../../lab/ask.ts";
import { containerdSocket } from "../node/containerd.ts";
import { run } from "../run.ts";
import { theCluster } from "../the-cluster.ts";
import { until } from "../until.ts";

const folder = resolve(import.meta.dir, "../../../dist/image");
const architecture = process.arch === "arm64" ? "arm64" : "amd64";
const daemonName = "image-daemon";
let built: Images;

/** In a namespace of its own, where the kubelet does not look. */
function ctr(...args: readonly string[]): string {
  return run("ctr", "--address", containerdSocket, "--namespace", "image", ...args);
}

function nameOf({ name }: BuiltImage): string {
  return `levee.dev/${name}:${version}`;
}

let runs = 0;

/** Runs one command in a new container of the image, and gives its output. */
function inImage(name: BuiltImage["name"], ...command: readonly string[]): string {
  runs += 1;
  return ctr("run", "--rm", `levee.dev/${name}:${version}`, `image-run-${runs}`, ...command);
}

beforeAll(async () => {
  await theCluster();
  built = JSON.parse(readFileSync(join(folder, "images.json"), "utf8")) as Images; // as buildImages writes it
  for (const { archive } of built.images) ctr("images", "import", join(folder, archive));
}, 120_000);

afterAll(() => {
  for (const image of built.images) ctr("images", "rm", nameOf(image));
});

describe("the archives", () => {
  test("ctr imports each under its name, with the digest of images.json", () => {
    const listed = ctr("images", "ls");
    for (const image of built.images)
      expect(listed).toMatch(new RegExp(`^${nameOf(image).replaceAll(".", "\\.")} +\\S+ +${image.digest} `, "mu"));
  });

  test("skopeo copies all platforms without changing a digest", async () => {
    const { machine } = await theCluster();
    for (const { name, archive, digest, platforms } of built.images) {
      const to = machine.path(`skopeo-${name}`);
      const from = `oci-archive:${join(folder, archive)}`;
      run("skopeo", "--insecure-policy", "copy", "--all", "--preserve-digests", from, `dir:${to}`);
      const index = readFileSync(join(to, "manifest.json"));
      expect(`sha256:${createHash("sha256").update(index).digest("hex")}`).toBe(digest);
      expect(Object.keys(platforms)).toContain(`linux/${architecture}`);
      for (const manifest of Object.values(platforms))
        expect(readFileSync(join(to, `${manifest.slice("sha256:".length)}.manifest.json`)).length).toBeGreaterThan(0);
    }
  });
});

describe("the daemon's image", () => {
  test("runs the commands, and the shim beside them", () => {
    expect(inImage("levee", "/usr/local/bin/levee", "--help")).toContain("Usage: levee");
    expect(inImage("levee", "/usr/local/bin/levee-shim", "--version")).toContain(`levee-shim ${version}`);
    const versions = JSON.parse(inImage("levee", "/usr/local/bin/levee", "version", "-o", "json")) as {
      readonly cli: { readonly version: string };
      readonly shim: { readonly software: string };
    };
    expect(versions.cli.version).toBe(version);
    expect(versions.shim.software).toBe(`levee-shim ${version}`);
  });

  test("has no shell, and nothing that gives the rights of its owner", () => {
    expect(() => inImage("levee", "/bin/sh", "-c", "true")).toThrow("/bin/sh");
    const image = built.images.find(({ name }) => name === "levee");
    const to = run("mktemp", "-d").trim();
    ctr("images", "mount", image === undefined ? "" : nameOf(image), to);
    try {
      expect(run("find", to, "-perm", "/6000")).toBe("");
      expect(run("find", to, "!", "-user", "root")).toBe("");
      expect(run("find", join(to, "usr/bin"), "-type", "f")).toBe("");
      expect(readFileSync(join(to, "var/lib/dpkg/status.d/libc6"), "utf8")).toContain("Package: libc6\n");
      expect(readFileSync(join(to, "usr/share/levee/sbom.spdx.json"), "utf8")).toContain('"name": "libc6"');
      expect(readFileSync(join(to, "etc/ssl/certs/ca-certificates.crt"), "utf8")).toContain("BEGIN CERTIFICATE");
    } finally {
      ctr("images", "unmount", "--rm", to);
    }
  });

  test("runs the daemon, which answers and has the engine's settings from the image", async () => {
    const { machine } = await theCluster();
    const own = machine.path("image-daemon");
    mkdirSync(join(own, "directory"), { recursive: true });
    const paths = { socketDir: "run", stateDir: "state", cniDir: "multus", confDir: "conf", directory: "directory" };
    const settings = Object.fromEntries(Object.entries(paths).map(([name, path]) => [name, `/levee/${path}`]));
    mkdirSync(join(own, "conf"));
    const primary = { cniVersion: "1.0.0", name: "primary", type: "bridge" };
    writeFileSync(join(own, "config.json"), JSON.stringify({ ...settings, delegates: [primary] }));
    const mount = ["--mount", `type=bind,src=${own},dst=/levee,options=rbind:rw`];
    const image = `levee.dev/levee:${version}`;
    ctr("run", "-d", ...mount, image, daemonName, "/usr/local/bin/levee", "daemon", "--config", "/levee/config.json");
    try {
      const node = await until("the daemon answers", () => ask<NodeAnswer>(join(own, "run"), { ask: "node" }));
      expect(node.software).toBe(`levee ${version}`);
      const pid = /^\S+ +(\d+) +RUNNING/mu.exec(ctr("tasks", "ls"))?.[1] ?? "";
      const env = readFileSync(`/proc/${pid}/environ`, "utf8").split("\0");
      for (const pair of Object.entries(daemonEnv)) expect(env).toContain(pair.join("="));
    } finally {
      ctr("tasks", "kill", "--signal", "SIGTERM", daemonName);
      await until("the daemon has ended", () => (ctr("tasks", "ls").includes("RUNNING") ? undefined : true));
      ctr("tasks", "rm", daemonName);
      ctr("containers", "rm", daemonName);
    }
  });
});

describe("the guard's image", () => {
  test("runs git with its own libraries, over https as well, and as the guard's user", () => {
    expect(inImage("levee-guard", "/usr/bin/git", "--version")).toContain("git version 2.");
    // git runs the helper of a protocol as a program, with libcurl: a refused connection shows that it was started.
    expect(() => inImage("levee-guard", "/usr/bin/git", "ls-remote", "https://127.0.0.1:1/x.git")).toThrow(
      /Failed to connect|Could not connect|Couldn't connect/u,
    );
    expect(inImage("levee-guard", "/bin/sh", "-c", "cat /proc/self/status")).toMatch(/^Uid:\s+65532\s/mu);
  });

  test("makes a commit, and runs the shell's and our helpers", () => {
    const lines = [
      "cd /tmp && git init -q x && cd x && echo a > a && git add a",
      "git -c user.name=a -c user.email=a@example.com commit -q -m m && git log --format=%s",
      "test -x /bin/false && ! /bin/false && git clone -q /tmp/x /tmp/y && cat /tmp/y/a",
    ];
    expect(inImage("levee-guard", "/bin/sh", "-c", lines.join(" && "))).toBe("m\na\n");
  });

  test("runs ssh, which knows the name of the guard's user", () => {
    expect(inImage("levee-guard", "/usr/bin/ssh", "-G", "git.example")).toMatch(/^user levee$/mu);
    expect(() => inImage("levee-guard", "/usr/bin/ssh", "-o", "BatchMode=yes", "-p", "1", "127.0.0.1")).toThrow(
      "Connection refused",
    );
  });

  test("runs Levee's guard", () => {
    expect(inImage("levee-guard", "/usr/local/bin/levee", "guard", "--help")).toContain("Usage: levee guard");
  });
});
