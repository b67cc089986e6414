import { chmodSync, copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { run } from "../../e2e/run.ts";
import { moduleFiles } from "./module-files.ts";

/** What reaches the disk. */
export const initModules = ["virtio_pci", "virtio_blk", "ext4"];

/** The kernel is told this word to only show that it runs. */
export const tryWord = "levee.try";
export const triedWord = "levee: the kernel runs";
/** Where the second disk is: programs, images and the files of the run. */
export const payloadFolder = "/opt/payload";

/** The first process: finds the disks, puts the run's own files on the first one at its first boot, and starts systemd. */
export const initScript = `#!/bin/busybox sh
b=/bin/busybox
$b mount -t proc none /proc
$b mount -t sysfs none /sys
$b mount -t devtmpfs none /dev
case "$($b cat /proc/cmdline)" in
*${tryWord}*)
  echo "${triedWord}"
  $b poweroff -f
  ;;
esac
for module in $($b cat /modules/order); do $b insmod /modules/$module; done
tries=0
while [ ! -b /dev/vda ] && [ $tries -lt 300 ]; do
  $b sleep 0.1
  tries=$((tries + 1))
done
$b mount -t ext4 -o rw,noatime,noinit_itable /dev/vda /new || $b poweroff -f
$b mkdir -p /new${payloadFolder}
if [ -b /dev/vdb ] && $b mount -t ext4 -o ro /dev/vdb /new${payloadFolder}; then
  if [ ! -e /new/.furnished ]; then
    $b cp -a /new${payloadFolder}/files/. /new/
    $b touch /new/.furnished
    $b sync
  fi
fi
for folder in proc sys dev; do $b umount -l /$folder; done
exec $b switch_root /new /sbin/init
`;

/** Makes the file from the guest's root file system. */
export function makeInitramfs(file: string, rootfs: string, kernel: string): void {
  const folder = `${file}.files`;
  for (const path of ["bin", "modules", "new", "proc", "sys", "dev"])
    mkdirSync(join(folder, path), { recursive: true });
  copyFileSync(join(rootfs, "bin/busybox"), join(folder, "bin/busybox"));
  addModules(join(folder, "modules"), join(rootfs, "lib/modules", kernel));
  writeFileSync(join(folder, "init"), initScript);
  for (const path of ["bin/busybox", "init"]) chmodSync(join(folder, path), 0o755);
  run("sh", "-ec", `cd "$1" && find . | busybox cpio -o -H newc 2>/dev/null | gzip -1 > "$2"`, "sh", folder, file);
  run("rm", "-r", folder);
}

/** The modules, and a file with their names in the order in which they are loaded. */
function addModules(folder: string, modules: string): void {
  const listed = (name: string): string => readFileSync(join(modules, name), "utf8");
  const needed = moduleFiles(initModules, { dependencies: listed("modules.dep"), builtIn: listed("modules.builtin") });
  const names = needed.map((path) => {
    const name = basename(path).replace(/\.xz$/u, "");
    const unpack = path.endsWith(".xz") ? "xz --decompress --stdout" : "cat";
    run("sh", "-ec", `${unpack} "$1" > "$2"`, "sh", join(modules, path), join(folder, name));
    return name;
  });
  writeFileSync(join(folder, "order"), names.join("\n"));
}
