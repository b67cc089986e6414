import { createHash } from "node:crypto";
import { baseFiles, type GuestFile } from "./base-files.ts";
import { initScript, initModules } from "./initramfs.ts";

/** Nodes as people have them: Debian with systemd, its own containerd and runc, and its kernel for clouds. */
export const releases = { "12": "bookworm", "13": "trixie" } as const;
export type DebianVersion = keyof typeof releases;
export const diskBytes = 10 * 1024 * 1024 * 1024;

export const packages = [
  ...["systemd", "systemd-sysv", "udev", "dbus", "kmod", "mount", "util-linux", "procps", "e2fsprogs"],
  ...["linux-image-cloud-amd64", "openssh-server", "ca-certificates", "busybox-static", "jq", "curl"],
  ...["iproute2", "iptables", "nftables", "iputils-ping", "ethtool", "conntrack"],
  ...["containerd", "runc", "containernetworking-plugins"],
];

/** Documentation and translations are half of the image, and no node needs them. */
export const leftOut = [
  "/usr/share/doc/*",
  "/usr/share/info/*",
  "/usr/share/locale/*",
  "/usr/share/man/*",
  "/usr/share/bash-completion/*",
];

/** Every file of the image that is not Debian's. */
export const files: readonly GuestFile[] = baseFiles;

/** Names the image in the cache: another recipe is another image. */
export function recipeHash(debian: DebianVersion): string {
  const recipe = { release: releases[debian], diskBytes, packages, leftOut, files, initScript, initModules };
  return createHash("sha256").update(JSON.stringify(recipe)).digest("hex").slice(0, 12);
}
