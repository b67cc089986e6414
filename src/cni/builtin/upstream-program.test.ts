import { expect, test } from "bun:test";
import { builtinPlugins } from "./builtin-plugins.ts";
import { upstreamVersion } from "./upstream-program.ts";

const module = "github.com/containernetworking/plugins";
const claim = (version: string): string =>
  `build\t-ldflags="-extldflags -static -X ${module}/pkg/utils/buildversion.BuildVersion=${version}"`;

function marks(lines: { readonly [key in "path" | "mod" | "more"]?: string }): string {
  const {
    path = `path\t${module}/plugins/main/bridge`,
    mod = `mod\t${module}\t(devel)\t`,
    more = claim("v1.9.1"),
  } = lines;
  const deps = "dep\tgithub.com/vishvananda/netlink\tv1.3.1\th1:x=";
  return ["go\tgo1.26.8", "id\ta/b/c/d", path, mod, deps, more, "build\tGOOS=linux", ""].join("\n");
}

test.each([
  ["a release of upstream", {}, "1.9.1"],
  [
    "a release built from its tag",
    { mod: `mod\t${module}\tv1.9.1\t`, more: `build\tvcs.modified=false\n${claim("v1.9.1")}` },
    "1.9.1",
  ],
  [
    "the module as a proxy serves it",
    { mod: `mod\t${module}\tv1.9.1\th1:8oU6WsIsU3bpnNZuvHp74a6cE1MJwbj2P7s4/yTUNlA=`, more: "" },
    "1.9.1",
  ],
  [
    "the older module",
    { mod: `mod\t${module}\tv1.1.1\th1:+AGfFigZ5TiQH00vhR8qPeSatj53eNGz0C1d3wVYlHE=`, more: "" },
    "1.1.1",
  ],
])("upstreamVersion knows %s", (_what, lines, version) => {
  expect(upstreamVersion("bridge", marks(lines))).toBe(version as "1.9.1");
});

test.each([
  ["a version that was not compared", { more: claim("v1.9.0") }],
  ["a version of a distribution's own", { more: claim("v1.9.1-build20250611") }],
  ["a build by hand", { more: "" }],
  ["two claims", { more: `${claim("v1.9.1").slice(0, -1)} -X ${module}/pkg/utils/buildversion.BuildVersion=v1.1.1"` }],
  ["a changed checkout", { more: `build\tvcs.modified=true\n${claim("v1.9.1")}` }],
  ["a changed checkout, as its version says", { mod: `mod\t${module}\tv1.9.1+dirty\t` }],
  ["another source under the same version", { mod: `mod\t${module}\tv1.9.1\th1:AAAA=`, more: claim("v1.9.1") }],
  ["a fork of the module", { mod: "mod\tgithub.com/rancher/plugins\t(devel)\t" }],
  ["a replaced dependency", { more: `=>\t../netlink\t(devel)\t\n${claim("v1.9.1")}` }],
  ["another plugin under this name", { path: `path\t${module}/plugins/main/macvlan` }],
  ["a program of the site", { path: "path\texample.org/bridge", mod: "mod\texample.org/bridge\tv1.9.1\t" }],
  ["a build without modules", { mod: "", more: "" }],
])("upstreamVersion leaves %s alone", (_what, lines) => {
  expect(upstreamVersion("bridge", marks(lines))).toBeUndefined();
});

test.each([
  ["macvlan", "main"],
  ["host-local", "ipam"],
  ["tuning", "meta"],
] as const)("upstreamVersion looks for %s in the folder %s of upstream's source", (name, folder) => {
  const path = (where: string): string => `path\t${module}/plugins/${where}/${name}`;
  expect(upstreamVersion(name, marks({ path: path(folder) }))).toBe("1.9.1");
  expect(upstreamVersion(name, marks({ path: path("sample") }))).toBeUndefined();
});

test("upstreamVersion knows nothing about a file without marks", () => {
  for (const text of ["", "\n", "go\t\nid\t\n", "path"]) expect(upstreamVersion("bridge", text)).toBeUndefined();
});

test("upstreamVersion knows Debian's programs by the hash of the linked program", () => {
  const debian = (hash: string): string =>
    `go\tgo1.19.8\nid\tJSEji6YCKcuvBn5fGjIj/EZkJN_1_8JtZosy4jeTE/B183zuldL-MNOxvEGO2Y/${hash}\npath\t${module}/plugins/main/bridge\nbuild\t-trimpath=true\n`;
  expect(upstreamVersion("bridge", debian("Qngu0Sr54mMMFfM6i5ht"))).toBe("1.1.1");
  expect(upstreamVersion("bridge", debian("Qngu0Sr54mMMFfM6i5hu"))).toBeUndefined();
  // Another program's hash proves nothing about this one.
  for (const name of builtinPlugins.filter((other) => other !== "bridge"))
    expect(upstreamVersion(name, debian("Qngu0Sr54mMMFfM6i5ht"))).toBeUndefined();
});

test("upstreamVersion leaves the programs of built-ins alone that were not compared as often", () => {
  for (const name of ["ipvlan", "vlan"] as const) {
    const path = `path\t${module}/plugins/main/${name}`;
    expect(upstreamVersion(name, marks({ path }))).toBeUndefined();
  }
});
