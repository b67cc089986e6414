import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { imageParts } from "../image/vm-image.ts";
import { triedWord, tryWord } from "../image/initramfs.ts";

export type Accelerator = "kvm" | "tcg";

/** With KVM the kernel says its first word within a second. On some hosts /dev/kvm is there and a guest hangs on it. */
const tryMs = 8_000;

/** What is tried; tests replace it. */
interface Trial {
  readonly device?: string;
  readonly program?: string;
  readonly timeoutMs?: number;
}

export function acceleratorOptions(accelerator: Accelerator): readonly string[] {
  if (accelerator === "kvm") return ["-accel", "kvm", "-cpu", "host"];
  // Four levels of page tables are enough, and a fifth is looked up in software.
  return ["-accel", "tcg,thread=multi", "-cpu", "max,la57=off"];
}

/** KVM if a kernel boots with it, found out by booting one. */
export async function findAccelerator(image: string, trial: Trial = {}): Promise<Accelerator> {
  const { device = "/dev/kvm", program = "qemu-system-x86_64", timeoutMs = tryMs } = trial;
  if (!existsSync(device)) return "tcg";
  const args = [
    ...acceleratorOptions("kvm"),
    ...["-machine", "q35", "-m", "256", "-nodefaults", "-no-user-config", "-display", "none", "-no-reboot"],
    ...["-kernel", join(image, imageParts.kernel), "-initrd", join(image, imageParts.initramfs)],
    ...["-append", `console=ttyS0 quiet ${tryWord}`, "-serial", "stdio"],
  ];
  return (await saysInTime([program, ...args], timeoutMs)) ? "kvm" : "tcg";
}

function saysInTime([program = "", ...args]: readonly string[], timeoutMs: number): Promise<boolean> {
  const child = spawn(program, args, { stdio: ["ignore", "pipe", "ignore"] });
  let said = "";
  return new Promise((resolve) => {
    const patience = setTimeout(() => child.kill("SIGKILL"), timeoutMs);
    const end = (): void => {
      clearTimeout(patience);
      resolve(said.includes(triedWord));
    };
    child.stdout.on("data", (chunk: Buffer) => {
      said += chunk.toString();
      if (said.includes(triedWord)) child.kill("SIGKILL");
    });
    child.on("error", end);
    child.on("close", end);
  });
}
