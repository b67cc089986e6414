import { expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { chmod, chown, mkdir, mkdtemp, rename, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findPrimary, type PrimaryFinding } from "./primary-conf.ts";

const network = { cniVersion: "1.0.0", name: "net", type: "bridge" };

class Folder {
  readonly path: string;

  private constructor(path: string) {
    this.path = path;
  }

  static async of(files: Readonly<Record<string, object | string>>): Promise<Folder> {
    const folder = new Folder(await mkdtemp(join(tmpdir(), "levee-primary-")));
    for (const [name, content] of Object.entries(files))
      await writeFile(join(folder.path, name), typeof content === "string" ? content : JSON.stringify(content));
    return folder;
  }

  find(multusMasterCNI = ""): Promise<PrimaryFinding> {
    return findPrimary({ multusAutoconfigDir: this.path, multusMasterCNI });
  }

  async found(multusMasterCNI = ""): Promise<string | undefined> {
    return (await this.find(multusMasterCNI)).primary?.fileName;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return rm(this.path, { recursive: true, force: true });
  }
}

test.each(["10-net.conf", "10-net.json"])("findPrimary takes %s, the first by name", async (name) => {
  await using folder = await Folder.of({ [name]: network, "20-other.conf": network, "05-readme.txt": "no conf" });
  expect(await folder.find()).toEqual({
    primary: {
      path: join(folder.path, name),
      fileName: name,
      name: "net",
      cniVersion: "1.0.0",
      capabilities: [],
      pluginTypes: ["bridge"],
    },
    names: [name, "20-other.conf"],
  });
});

test("findPrimary reads the capabilities of every plugin, also of those in the network's own folder", async () => {
  const plugins = [
    { type: "bridge", capabilities: { ips: true, mac: false } },
    { type: "portmap", capabilities: { portMappings: true, ips: true } },
  ];
  await using folder = await Folder.of({ "10-net.conflist": { cniVersion: "1.0.0", name: "net", plugins } });
  await mkdir(join(folder.path, "net"));
  await writeFile(join(folder.path, "net/a.conf"), '{"type":"bandwidth","capabilities":{"bandwidth":true}}');
  expect((await folder.find()).primary?.capabilities).toEqual(["ips", "portMappings", "bandwidth"]);
});

test("findPrimary never takes a conf that would call Levee again, whatever its name", async () => {
  await using folder = await Folder.of({
    "00-levee.conf": network,
    "00-multus.conf": network,
    "01-renamed.conf": { ...network, type: "levee-shim" },
    "02-thick.conflist": { name: "a", plugins: [{ type: "multus-shim" }, { type: "istio-cni" }] },
    "03-thin.conf": { ...network, type: "multus" },
    "04-behind.conflist": { name: "a", plugins: [{ type: "tuning" }, { type: "levee-shim" }] },
    "99-loopback.conf": { ...network, type: "loopback" },
  });
  await mkdir(join(folder.path, "05-folder.conf"));
  expect(await folder.find()).toMatchObject({ primary: undefined, lack: "absent" });
  await writeFile(join(folder.path, "50-net.conf"), JSON.stringify(network));
  expect(await folder.found()).toBe("50-net.conf");
});

test("findPrimary does not skip an unreadable file: the next one would be another network", async () => {
  await using folder = await Folder.of({ "10-broken.conf": "{", "20-other.conf": network });
  expect(await folder.find()).toMatchObject({ lack: "unusable", why: expect.stringContaining("10-broken.conf") });
  await rename(join(folder.path, "10-broken.conf"), join(folder.path, "10-broken.bak"));
  await symlink("/nowhere/gone", join(folder.path, "10-link.conf"));
  expect(await folder.find()).toMatchObject({ lack: "unusable", why: expect.stringContaining("10-link.conf: ENOENT") });
});

test("findPrimary takes the file that multusMasterCNI names, and no other", async () => {
  await using folder = await Folder.of({ "10-a.conf": network, "20-b.conf": network, "30-c.conf": "{" });
  expect(await folder.found("20-b.conf")).toBe("20-b.conf");
  expect(await folder.find("gone.conf")).toMatchObject({ lack: "absent", why: expect.stringContaining("gone.conf") });
  expect(await folder.find("30-c.conf")).toMatchObject({ lack: "unusable" });
  await writeFile(join(folder.path, "mine.conf"), JSON.stringify({ ...network, type: "levee-shim" }));
  expect(await folder.find("mine.conf")).toMatchObject({ lack: "unusable", why: expect.stringContaining("itself") });
});

test("findPrimary reports a missing folder", async () => {
  expect(await findPrimary({ multusAutoconfigDir: "/nowhere/net.d", multusMasterCNI: "" })).toMatchObject({
    lack: "unusable",
    why: expect.stringContaining("/nowhere/net.d"),
  });
});

test("findPrimary names a file that root without capabilities cannot read", async () => {
  await using folder = await Folder.of({ "10-net.conf": network });
  const path = join(folder.path, "10-net.conf");
  await chown(path, 12_345, 12_345);
  await chmod(path, 0o600);
  await chmod(folder.path, 0o755);
  const look = `import { findPrimary } from ${JSON.stringify(join(import.meta.dir, "primary-conf.ts"))};
    console.log(JSON.stringify(await findPrimary({ multusAutoconfigDir: ${JSON.stringify(folder.path)}, multusMasterCNI: "" })));`;
  const bare = ["--bounding-set=-all", "--inh-caps=-all", "--no-new-privs"];
  const { stdout, stderr } = spawnSync("setpriv", [...bare, process.execPath, "-e", look], { encoding: "utf8" });
  expect({ stdout: JSON.parse(stdout || "null") as unknown, stderr }).toEqual({
    stdout: {
      lack: "unusable",
      why: `${path} cannot be read by the daemon, which is root without capabilities (EACCES)`,
      remedy: `let root own ${path}, or let others read it`,
    },
    stderr: "",
  });
});
