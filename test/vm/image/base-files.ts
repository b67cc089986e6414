import { nodeName } from "../../e2e/machine.ts";
import { guestAddress, hostAddress } from "../machine/addresses.ts";

/** A file or a link of the guest's root file system; the path has no leading slash. */
export type GuestFile =
  | { readonly path: string; readonly text: string; readonly mode?: number }
  | { readonly path: string; readonly linkTo: string };

/** Timers and services that would work while a scenario measures, and those that wait for what is not there. */
const masked = [
  ...[
    "apt-daily.timer",
    "apt-daily-upgrade.timer",
    "dpkg-db-backup.timer",
    "fstrim.timer",
    "systemd-timesyncd.service",
  ],
  ...["e2scrub_all.timer", "e2scrub_reap.service", "getty@tty1.service", "serial-getty@ttyS0.service"],
  ...["systemd-networkd-wait-online.service"],
];

/** What makes a machine of the packages: its name, its disk, its network and what a node's kernel needs. */
export const baseFiles: readonly GuestFile[] = [
  { path: "etc/hostname", text: `${nodeName}\n` },
  { path: "etc/hosts", text: `127.0.0.1 localhost ${nodeName}\n` },
  { path: "etc/fstab", text: "/dev/vda / ext4 rw,noatime,noinit_itable 0 0\n" },
  {
    path: "etc/systemd/network/10-node.network",
    text: `[Match]\nName=eth0\n[Network]\nAddress=${guestAddress}/24\nGateway=${hostAddress}\nLinkLocalAddressing=no\n`,
  },
  {
    path: "etc/systemd/system/multi-user.target.wants/systemd-networkd.service",
    linkTo: "/lib/systemd/system/systemd-networkd.service",
  },
  { path: "etc/modules-load.d/node.conf", text: "overlay\nbr_netfilter\nloop\n" },
  {
    path: "etc/sysctl.d/99-node.conf",
    text: "net.ipv4.ip_forward=1\nnet.bridge.bridge-nf-call-iptables=1\nkernel.panic=10\nvm.overcommit_memory=1\n",
  },
  // The journal of an earlier boot is read after a power cut.
  { path: "etc/systemd/journald.conf.d/keep.conf", text: "[Journal]\nStorage=persistent\nSystemMaxUse=200M\n" },
  { path: "etc/ssh/sshd_config.d/node.conf", text: "UseDNS no\nPermitRootLogin prohibit-password\n" },
  ...masked.map((unit) => ({ path: `etc/systemd/system/${unit}`, linkTo: "/dev/null" })),
];
