import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createConnection } from "node:net";
import { join } from "node:path";
import { Program } from "../../e2e/program.ts";
import { run } from "../../e2e/run.ts";
import { say } from "../../e2e/say.ts";
import { Hopeless, until } from "../../e2e/until.ts";
import { slowly } from "../slowly.ts";
import { imageParts } from "../image/vm-image.ts";
import { acceleratorOptions, findAccelerator, type Accelerator } from "./accelerator.ts";
import { sshPort } from "./addresses.ts";
import { GuestShell } from "./guest-shell.ts";

/** An emulated machine boots in 40 s when the host is idle, and the host may not be. */
const bootMs = 300_000;
const endMs = 60_000;
const journalMs = 120_000;
const memoryMib = 4096;
const cores = 2;

export interface VirtualMachineParts {
  /** For everything that is written. */
  readonly folder: string;
  /** The image's folder in the cache. */
  readonly image: string;
  /** The second disk (payload.ts). */
  readonly payload: string;
}

/** A virtual machine with a disk of its own over the image's: booted, restarted, cut off, booted again. */
export class VirtualMachine {
  readonly shell: GuestShell;
  readonly accelerator: Accelerator;
  readonly #folder: string;
  readonly #qemu: Program;
  #bootId = "";

  private constructor(parts: VirtualMachineParts, accelerator: Accelerator) {
    this.#folder = parts.folder;
    this.accelerator = accelerator;
    this.shell = new GuestShell(join(parts.image, imageParts.key), parts.folder);
    this.#qemu = new Program(join(parts.folder, "logs"), "qemu", { command: qemuCommand(parts, accelerator) });
  }

  static async make(parts: VirtualMachineParts): Promise<VirtualMachine> {
    mkdirSync(join(parts.folder, "logs"), { recursive: true });
    const base = join(parts.image, imageParts.disk);
    run("qemu-img", "create", "-q", "-f", "qcow2", "-F", "raw", "-b", base, overlayOf(parts.folder));
    const accelerator = await findAccelerator(parts.image);
    say(`a virtual machine with ${accelerator === "kvm" ? "KVM" : "emulated processors (no KVM that works)"}`);
    return new VirtualMachine(parts, accelerator);
  }

  get bootId(): string {
    return this.#bootId;
  }

  get isRunning(): boolean {
    return this.#qemu.isRunning;
  }

  /** The end of the guest's serial console. */
  get console(): string {
    const file = consoleOf(this.#folder);
    return existsSync(file) ? readFileSync(file, "utf8").slice(-2_000) : "";
  }

  async boot(): Promise<void> {
    this.#qemu.start();
    await this.#untilBooted();
  }

  /** As a person does it, in the guest. */
  async reboot(): Promise<void> {
    // The connection may end before the command does.
    await this.shell.try("systemctl reboot", 60_000);
    await this.shell.forget();
    await this.#untilBooted();
  }

  /** From one instruction to the next there is no machine any more; what the disk was not given is lost. */
  async cutPower(): Promise<void> {
    await this.#order("quit");
    await until("the machine is off", () => (this.#qemu.isRunning ? undefined : true), { timeoutMs: endMs });
    await this.shell.forget();
  }

  /** Puts what the node's services and Levee's pods said beside the logs of this machine's programs. */
  async keepJournal(): Promise<void> {
    if (!this.isRunning) return;
    const said =
      "journalctl --no-pager --output=short-iso --lines=50000; tail -n +1 /var/log/pods/levee-system_*/*/*.log";
    const { stdout, stderr } = await this.shell.try(said, journalMs);
    writeFileSync(join(this.#folder, "logs", "guest.log"), `${stdout}${stderr}`);
  }

  async stop(): Promise<void> {
    await this.#qemu.stop("SIGTERM");
  }

  async #untilBooted(): Promise<void> {
    const before = this.#bootId;
    this.#bootId = await slowly(
      "the guest has booted and takes commands",
      async () => {
        if (!this.#qemu.isRunning) throw new Hopeless(`QEMU has ended:\n${this.#qemu.logTail()}\n${this.console}`);
        const found = await this.shell.try("cat /proc/sys/kernel/random/boot_id", 30_000);
        const bootId = found.stdout.trim();
        if (found.status === 0 && bootId !== "" && bootId !== before) return bootId;
        // A connection to the boot before would answer with its ID until it ends.
        await this.shell.forget();
        throw new Error(found.stderr.trim() || "it is still the boot before");
      },
      { timeoutMs: bootMs, everyMs: 1_000 },
    );
    say(`the guest has booted (${this.#bootId.slice(0, 8)})`);
  }

  /** A line for QEMU's monitor. */
  #order(line: string): Promise<void> {
    return new Promise((resolve, reject) => {
      const socket = createConnection(monitorOf(this.#folder), () => socket.write(`${line}\n`));
      socket.on("error", reject);
      socket.on("data", () => undefined);
      socket.on("close", () => resolve());
    });
  }
}

function overlayOf(folder: string): string {
  return join(folder, "disk.qcow2");
}

function consoleOf(folder: string): string {
  return join(folder, "logs", "console.log");
}

function monitorOf(folder: string): string {
  return join(folder, "monitor");
}

function qemuCommand({ folder, image, payload }: VirtualMachineParts, accelerator: Accelerator): readonly string[] {
  return [
    ...["qemu-system-x86_64", ...acceleratorOptions(accelerator)],
    ...["-machine", "q35", "-smp", String(cores), "-m", String(memoryMib)],
    ...["-nodefaults", "-no-user-config", "-display", "none"],
    ...["-kernel", join(image, imageParts.kernel), "-initrd", join(image, imageParts.initramfs)],
    // The counter of an emulated processor is the host's own, and many times quicker to read than another clock.
    ...["-append", "console=ttyS0 quiet net.ifnames=0 mitigations=off psi=1 tsc=reliable"],
    // What the guest gave to its disk survives QEMU's end, so QEMU need not wait for the host's disk.
    ...["-drive", `file=${overlayOf(folder)},if=virtio,format=qcow2,cache=unsafe,discard=unmap`],
    ...["-drive", `file=${payload},if=virtio,format=raw,readonly=on`],
    ...["-netdev", `user,id=net,hostfwd=tcp:127.0.0.1:${sshPort}-:22`],
    // Nothing is booted over the network, so the card needs no ROM.
    ...["-device", "virtio-net-pci,netdev=net,romfile="],
    ...["-chardev", `file,id=console,path=${consoleOf(folder)},append=on`],
    ...["-monitor", `unix:${monitorOf(folder)},server=on,wait=off`, "-serial", "chardev:console"],
  ];
}
