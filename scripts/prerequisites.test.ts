import { describe, expect, test } from "bun:test";
import {
  advice,
  installCommand,
  missingFor,
  pluginFolder,
  thisMachine,
  type Machine,
  type Purpose,
} from "./prerequisites.ts";

const complete: Machine = { platform: "linux", isRoot: true, hasProgram: () => true, hasFile: () => true };

function packages(machine: Partial<Machine>, purpose: Purpose = "test"): readonly (string | undefined)[] {
  return missingFor(purpose, { ...complete, ...machine }).map(({ debianPackage }) => debianPackage);
}

describe("missingFor", () => {
  test("is empty on a machine that has everything", () => {
    expect(missingFor("test", complete)).toEqual([]);
  });

  test("names the package of each missing program", () => {
    expect(packages({ hasProgram: () => false })).toEqual([
      ...["cargo", "gcc", "iproute2", "procps", "prometheus", "prometheus-alertmanager", "jsonnet", "lua5.1", "git"],
    ]);
  });

  test("asks for the static library and the plugins when their files are missing", () => {
    expect(packages({ hasFile: () => false })).toEqual(["libc6-dev", "containernetworking-plugins"]);
  });

  test("asks for no networks when only building", () => {
    const bare: Partial<Machine> = {
      isRoot: false,
      hasProgram: (name) => name !== "ip",
      hasFile: (path) => path.endsWith("libc.a"),
    };
    expect(packages(bare, "build")).toEqual([]);
    expect(packages(bare, "start")).toEqual([undefined, "iproute2", "containernetworking-plugins"]);
  });

  test("asks for the parts of a node that the distribution has, when they are to be run", () => {
    const nodeParts = [
      "etcd",
      "containerd",
      "runc",
      "openssl",
      "skopeo",
      "podman",
      "docker-registry",
      "qemu-aarch64-static",
      "prometheus-alertmanager",
      "chromium",
    ];
    const bare: Partial<Machine> = {
      hasProgram: (name) => !nodeParts.includes(name),
      hasFile: (path) => path !== "/bin/busybox",
    };
    expect(packages(bare, "test")).toEqual(["prometheus-alertmanager"]);
    expect(packages(bare, "e2e")).toEqual([
      ...["etcd-server", "containerd", "runc", "openssl", "busybox-static"],
      ...["skopeo", "podman", "docker-registry", "qemu-user-static", "prometheus-alertmanager", "chromium"],
    ]);
  });

  test("asks for what neighbours need only when they are to be run", () => {
    const bare: Partial<Machine> = { hasProgram: (name) => !["redis-check-rdb", "tcpdump", "etcd"].includes(name) };
    expect(packages(bare, "e2e")).toEqual(["etcd-server"]);
    expect(packages(bare, "neighbours")).toEqual(["etcd-server", "redis-tools", "tcpdump"]);
  });

  test("asks for a machine and the tools for its image only when one is to be run", () => {
    const tools = ["qemu-system-x86_64", "qemu-img", "mmdebstrap", "mke2fs", "ssh", "etcd"];
    const bare: Partial<Machine> = { hasProgram: (name) => !tools.includes(name) };
    expect(packages(bare, "e2e")).toEqual(["etcd-server"]);
    expect(packages(bare, "vm")).toEqual([
      ...["etcd-server", "qemu-system-x86", "qemu-utils", "mmdebstrap", "e2fsprogs", "openssh-client"],
    ]);
  });

  test("asks for the bench's own tools, and for the parts of a node only where Go can build the rest", () => {
    const bare = (hasGo: boolean): Partial<Machine> => ({
      hasProgram: (name) => !["strace", "mkfs.ext4", "etcd"].includes(name) && (hasGo || name !== "go"),
      hasFile: (path) => hasGo || !path.startsWith("/usr/local/go"),
    });
    expect(packages(bare(false), "bench")).toEqual(["e2fsprogs", "strace"]);
    expect(packages(bare(true), "bench")).toEqual(["e2fsprogs", "strace", "etcd-server"]);
  });

  test("stops at once on another system", () => {
    expect(missingFor("build", { ...complete, platform: "darwin", hasProgram: () => false })).toEqual([
      { what: "Linux (this is darwin)", debianPackage: undefined },
    ]);
  });
});

describe("pluginFolder", () => {
  test("takes the first folder that has all plugins, not a part of them", () => {
    const partial = (path: string): boolean => path.startsWith("/usr/lib/cni/") || path === "/opt/cni/bin/bridge";
    expect(pluginFolder({ ...complete, hasFile: partial })).toBe("/usr/lib/cni");
    expect(pluginFolder({ ...complete, hasFile: (path) => path === "/opt/cni/bin/bridge" })).toBeUndefined();
  });
});

describe("advice", () => {
  test("gives the exact command and says that root is needed", () => {
    const machine = { ...complete, isRoot: false, hasProgram: (name: string) => name !== "ip" };
    expect(advice(missingFor("start", machine), ["iproute2"], machine)).toBe(
      `On Debian or Ubuntu, as root: ${installCommand(["iproute2"])}\nThen run the command again as root.`,
    );
  });

  test("says what to do without apt", () => {
    const machine = { ...complete, hasProgram: () => false };
    expect(advice([], ["cargo"], machine)).toContain("with your distribution's tools");
  });
});

test("thisMachine finds a program that is there and none that is not", () => {
  const machine = thisMachine();
  expect(machine.hasProgram("sh")).toBe(true);
  expect(machine.hasProgram("no-such-program-anywhere")).toBe(false);
});
