import { expect, test } from "bun:test";
import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { systemClock } from "../../base/clock.ts";
import { silentLogger } from "../../base/log.ts";
import type { ApplicationSource } from "../facts/world.ts";
import { GitServer } from "./git-server.fixture.ts";
import { GitSource } from "./git-source.ts";
import type { GitMirrors } from "./git-mirrors.ts";
import { until } from "../../base/until.fixture.ts";

const multus = "kind: DaemonSet\nmetadata: {name: kube-multus-ds}\n";

function sourceOf(server: GitServer, changes: Partial<ApplicationSource> = {}): ApplicationSource {
  return { repository: server.url, path: "apps/multus", revision: "main", isPlain: true, ...changes };
}

/** Reads once; gives the paths or the problem. */
async function seen(mirrors: GitMirrors, ...wanted: readonly ApplicationSource[]): Promise<readonly string[]> {
  const source = new GitSource({ clock: systemClock, logger: silentLogger, mirrors, wanted: () => wanted });
  try {
    await read(source);
    return [
      ...source.files().map(({ ref, path }) => `${ref}:${path}`),
      ...source.problems().map(({ problem }) => problem),
    ];
  } finally {
    await source.close();
  }
}

async function read(source: GitSource): Promise<void> {
  source.start();
  await until("it has looked", () => source.hasLooked() && source.files().length + source.problems().length > 0);
}

test("GitSource reads the manifests with a DaemonSet in the Application's folder, and those below it only when it is recursive", async () => {
  using server = new GitServer({
    "apps/multus/multus.yaml": multus,
    "apps/multus/rbac.yaml": "kind: ClusterRole\n",
    "apps/multus/README.md": "of the DaemonSet",
    "apps/multus/old/multus.yml": multus,
    "apps/multus2/multus.yaml": multus,
  });
  const mirrors = server.mirrors();
  expect(await seen(mirrors, sourceOf(server))).toEqual(["main:apps/multus/multus.yaml"]);
  expect(await seen(mirrors, sourceOf(server, { path: "./apps/multus/", isRecursive: true }))).toEqual([
    "main:apps/multus/multus.yaml",
    "main:apps/multus/old/multus.yml",
  ]);
});

test("GitSource has looked once every wanted source was tried, even without success", async () => {
  using server = new GitServer({ "apps/multus/multus.yaml": multus });
  const wanted = [sourceOf(server), sourceOf(server, { path: "apps/nowhere" })];
  const clock = systemClock;
  const source = new GitSource({ clock, logger: silentLogger, mirrors: server.mirrors(), wanted: () => wanted });
  expect(source.hasLooked()).toBe(false);
  await read(source);
  expect(source.hasLooked()).toBe(true);
  wanted.push(sourceOf(server, { revision: "next" }));
  expect(source.hasLooked()).toBe(false);
  await source.close();
});

test("GitSource copies only the contents it needs", async () => {
  using server = new GitServer({ "apps/multus/multus.yaml": multus, "media/film.bin": "x".repeat(3_000_000) });
  const mirrors = server.mirrors("", { bytesMax: 1_000_000 });
  expect(await seen(mirrors, sourceOf(server))).toEqual(["main:apps/multus/multus.yaml"]);
});

test("GitSource reads HEAD as the server's default branch, and rejects a tag", async () => {
  using server = new GitServer({ "apps/multus/multus.yaml": multus });
  server.ask("tag", "v1", "main");
  const mirrors = server.mirrors();
  expect(await seen(mirrors, sourceOf(server, { revision: "HEAD" }))).toEqual(["main:apps/multus/multus.yaml"]);
  expect(await seen(mirrors, sourceOf(server, { revision: "v1" }))).toEqual([
    'its revision "v1" is not a branch, so no commit can go on top of it',
  ]);
  expect(await seen(mirrors, sourceOf(server, { revision: "--upload-pack=x" }))).toEqual([
    'its revision "--upload-pack=x" is not a branch, so no commit can go on top of it',
  ]);
});

test("GitSource follows a moving branch, and keeps its files while the server is unreachable", async () => {
  using server = new GitServer({ "apps/multus/multus.yaml": multus });
  const source = new GitSource({
    clock: systemClock,
    logger: silentLogger,
    mirrors: server.mirrors(),
    wanted: () => [sourceOf(server)],
    lookMs: 10,
    refreshMs: 10,
  });
  await read(source);
  server.commit({ "apps/multus/multus.yaml": `${multus}# more\n` });
  await until("the change is seen", () => Buffer.from(source.files()[0]?.bytes ?? []).includes("more"));
  renameSync(server.bare, `${server.bare}.away`);
  await until("the problem is seen", () => source.problems().length === 1);
  expect(source.files()).toHaveLength(1);
  renameSync(`${server.bare}.away`, server.bare);
  await until("the problem is gone", () => source.problems().length === 0);
  await source.close();
});

test("GitSource begins anew when its copy is gone or damaged", async () => {
  using server = new GitServer({ "apps/multus/multus.yaml": multus });
  const mirrors = server.mirrors();
  expect(await seen(mirrors, sourceOf(server))).toHaveLength(1);
  mirrors.discard();
  expect(await seen(mirrors, sourceOf(server))).toEqual(["main:apps/multus/multus.yaml"]);
  rmSync(join(mirrors.find(server.url)?.folder ?? "", "objects"), { recursive: true });
  expect(await seen(mirrors, sourceOf(server))).toEqual([expect.stringContaining("Cannot ") as string]);
  expect(await seen(mirrors, sourceOf(server))).toEqual(["main:apps/multus/multus.yaml"]);
  rmSync(join(mirrors.find(server.url)?.folder ?? "", "objects"), { recursive: true });
  server.commit({ "apps/multus/multus.yaml": `${multus}# more\n` });
  expect(await seen(mirrors, sourceOf(server))).toEqual([expect.stringContaining("Cannot ") as string]);
  expect(await seen(mirrors, sourceOf(server))).toEqual(["main:apps/multus/multus.yaml"]);
});

test("GitSource says why it reads nothing: not configured, not allowed, another tool's folder, no git program", async () => {
  using server = new GitServer({
    "apps/multus/multus.yaml": multus,
    "apps/kust/kustomization.yaml": "resources: []\n",
    "apps/chart/Chart.yaml": "name: x\n",
  });
  const mirrors = server.mirrors(",branch=main,path=apps");
  expect(
    await seen(
      mirrors,
      sourceOf(server, { repository: "https://user:secret@evil.example/x.git" }),
      sourceOf(server, { path: "secrets" }),
      sourceOf(server, { path: "apps/../secrets" }),
      sourceOf(server, { path: "apps/kust" }),
      sourceOf(server, { path: "apps/chart" }),
    ),
  ).toEqual([
    "its repository https://evil.example/x.git is not in the guard's settings (--git-repository)",
    'the settings do not allow its folder "secrets"',
    'the settings do not allow its folder "apps/../secrets"',
    "its folder does not hold plain manifests: it has apps/kust/kustomization.yaml",
    "its folder does not hold plain manifests: it has apps/chart/Chart.yaml",
  ]);
  server.commit({ "apps/multus/multus.yaml": `${multus}#\n` }, "release");
  expect(await seen(mirrors, sourceOf(server, { path: "apps/nowhere" }))).toEqual([
    'no manifest in its folder "apps/nowhere" has a DaemonSet',
  ]);
  expect(await seen(mirrors, sourceOf(server, { revision: "release" }))).toEqual([
    'the settings do not allow its branch "release"',
  ]);
  expect(await seen(server.mirrors("", { program: "/nowhere/git" }), sourceOf(server))).toEqual([
    `Cannot read the branches of ${server.url}: the program git cannot be started (ENOENT)`,
  ]);
});

test("GitSource leaves out links, submodules, files that are too large and names that are no UTF-8", async () => {
  using server = new GitServer({
    "apps/multus/multus.yaml": multus,
    "apps/multus/huge.yaml": `${multus}# ${"x".repeat(300_000)}\n`,
  });
  symlinkSync("multus.yaml", join(server.clone, "apps/multus/link.yaml"));
  writeFileSync(
    Buffer.concat([Buffer.from(join(server.clone, "apps/multus/")), Buffer.from([0xff]), Buffer.from(".yaml")]),
    multus,
  );
  const inner = join(server.clone, "apps/multus/inner.yaml");
  mkdirSync(inner);
  server.run(inner, "init", "-q");
  server.run(inner, "commit", "-q", "--allow-empty", "-m", "inner");
  server.commitAll();
  expect(server.ask("ls-tree", "main", "apps/multus/")).toContain("160000 commit");
  expect(await seen(server.mirrors(), sourceOf(server))).toEqual(["main:apps/multus/multus.yaml"]);
});

test("GitSource gives up on a repository that is larger than the folder may be", async () => {
  using server = new GitServer({ "apps/multus/multus.yaml": multus, "a.bin": randomText(4_000_000) });
  // A server without filters sends all contents.
  server.ask("config", "uploadpack.allowFilter", "false");
  const [problem = ""] = await seen(server.mirrors("", { bytesMax: 100_000 }), sourceOf(server));
  expect(problem).toContain("the repository takes more than 100000 bytes");
});

/** Incompressible bytes. */
function randomText(bytes: number): Uint8Array {
  const text = new Uint8Array(bytes);
  for (let at = 0; at < bytes; at += 65_536) text.set(systemClock.randomBytes(Math.min(65_536, bytes - at)), at);
  return text;
}
