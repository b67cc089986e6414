/** `levee-shim gate check` on tickets that the daemon's own code wrote, and on files that should not be there. */
import { execFileSync } from "node:child_process";
import { readFileSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { afterEach, beforeEach, expect, test } from "bun:test";
import { systemClock } from "../../src/base/clock.ts";
import { GateTicketFile, type GateTicket } from "../../src/state/gate-ticket.ts";
import { Sandbox } from "./sandbox.ts";
import type { Exited } from "./shim-process.ts";

let sandbox: Sandbox;
let path: string;
const bootId = readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
const allow: GateTicket = { isAllowed: true, reason: "nothing is in the way", standsMs: 60_000 };

beforeEach(() => {
  sandbox = new Sandbox();
  path = sandbox.path("gate");
});

afterEach(() => sandbox.clean());

function check(file = path): Promise<Exited> {
  return sandbox.start(["gate", "check", "--file", file], "", {}).exited;
}

interface Odd {
  readonly bootId?: string;
  readonly wallShiftMs?: number;
  readonly uptimeShiftMs?: number;
}

function uptimeMs(): number {
  return Math.floor(Number.parseFloat(readFileSync("/proc/uptime", "utf8")) * 1_000);
}

async function write(ticket: GateTicket, odd: Odd = {}): Promise<void> {
  const clock = { ...systemClock, wallMs: () => systemClock.wallMs() + (odd.wallShiftMs ?? 0) };
  const uptime = (): number => uptimeMs() + (odd.uptimeShiftMs ?? 0);
  await new GateTicketFile({ path, bootId: odd.bootId ?? bootId, clock, uptimeMs: uptime }).write(ticket);
}

function said(code: number, line: string): Exited {
  return { code, signal: null, stdout: `${line}\n`, stderr: "" };
}

test("gate check allows and denies as the ticket says, with its reason on one line", async () => {
  await new GateTicketFile({ path, bootId, clock: systemClock }).write(allow);
  expect(await check()).toEqual(said(0, "Allow: nothing is in the way"));
  await write({ isAllowed: false, reason: "FiringAlert:\nthe disk\tis \u001b[31mfull", standsMs: 60_000 });
  expect(await check()).toEqual(said(1, "Deny: FiringAlert: the disk is full"));
  await write({ ...allow, reason: `ö${"x".repeat(5_000)}` });
  expect(await check()).toEqual(said(0, `Allow: ö${"x".repeat(399)}`));
});

test.each<[string, Odd, string]>([
  ["of another boot", { bootId: "00000000-0000-4000-8000-000000000000" }, "Deny: the ticket is of another boot"],
  ["written long ago", { wallShiftMs: -90_000, uptimeShiftMs: -90_000 }, "Deny: by the clock the ticket expired "],
  ["of a clock that was set back since", { wallShiftMs: 90_000 }, "Deny: by the clock the ticket is from "],
  ["kept alive by a clock that was set back", { uptimeShiftMs: -90_000 }, "Deny: by the uptime the ticket expired "],
  ["of a clock that was set ahead since", { wallShiftMs: -90_000 }, "Deny: by the clock the ticket expired "],
  ["of an uptime that is not this one", { uptimeShiftMs: 90_000 }, "Deny: by the uptime the ticket is from "],
])("gate check denies a ticket %s", async (_what, odd, line) => {
  await write(allow, odd);
  const end = await check();
  expect(end.stdout).toStartWith(line);
  expect(end.code).toBe(1);
});

test("gate check denies a ticket that has ended", async () => {
  await write({ ...allow, standsMs: 0 });
  expect((await check()).stdout).toStartWith("Deny: by the clock the ticket expired ");
});

// No ticket is older than the boot, so a machine that has just started cannot have this one.
test.skipIf(uptimeMs() < 670_000)("gate check denies a ticket that would stand for hours", async () => {
  await write({ ...allow, standsMs: 36_000_000 }, { wallShiftMs: -660_000, uptimeShiftMs: -660_000 });
  expect((await check()).stdout).toStartWith("Deny: by the clock the ticket expired 6");
});

test("gate check denies what is garbled, cut off, too long, absent or no file", async () => {
  await write(allow);
  const whole = readFileSync(path, "utf8");
  truncateSync(path, whole.length - 3);
  expect((await check()).stdout).toBe("Deny: the ticket is damaged, or of another version of Levee\n");
  writeFileSync(path, whole.replace("verdict Allow", "verdict allow"));
  expect((await check()).stdout).toBe("Deny: the ticket is damaged, or of another version of Levee\n");
  writeFileSync(path, "");
  expect((await check()).code).toBe(1);
  writeFileSync(path, `${whole}${"x".repeat(5_000)}`);
  expect(await check()).toEqual(said(1, `Deny: ${path} has more than 4096 bytes`));
  expect((await check(sandbox.path("none"))).stdout).toEndWith("(errno 2); the daemon's gateFile makes it\n");
  expect(await check("/dev/zero")).toEqual(said(1, "Deny: /dev/zero is no regular file"));
  symlinkSync("loop", sandbox.path("loop"));
  expect((await check(sandbox.path("loop"))).code).toBe(1);
});

test("gate check does not wait for the writer of a pipe", async () => {
  execFileSync("mkfifo", [path]);
  const started = performance.now();
  expect(await check()).toEqual(said(1, `Deny: ${path} is no regular file`));
  expect(performance.now() - started).toBeLessThan(1_000);
});

test("gate check answers within its five seconds on a file system that hangs", async () => {
  const folder = sandbox.path("hung");
  // A FUSE file system whose server never answers. It goes when its last descriptor is closed.
  const mount = `mkdir ${folder}; exec 3<>/dev/fuse; mount -i -t fuse -o fd=3,rootmode=40000,user_id=0,group_id=0 none ${folder} && exec sleep 60`;
  const server = Bun.spawn(["sh", "-c", mount], { stdout: "ignore", stderr: "pipe" });
  try {
    const end = performance.now() + 5_000;
    while (!readFileSync("/proc/mounts", "utf8").includes(folder)) {
      if (performance.now() > end) throw new Error(`the file system was not mounted in time`);
      await Bun.sleep(10);
    }
    const started = performance.now();
    expect(await check(`${folder}/gate`)).toEqual(said(1, "Deny: the file could not be read within 5000 ms"));
    const tookMs = performance.now() - started;
    expect(tookMs).toBeGreaterThan(4_900);
    expect(tookMs).toBeLessThan(5_700);
  } finally {
    server.kill("SIGKILL");
    await server.exited;
    execFileSync("umount", ["-l", folder]);
  }
}, 20_000);

test("gate with wrong arguments is Deny, and names them", async () => {
  const end = await sandbox.start(["gate", "check", "--file", "gate"], "", {}).exited;
  expect(end).toEqual(said(1, 'Deny: Cannot use --file as it must be an absolute path: current value is "gate"'));
  const other = await sandbox.start(["gate", "open"], "", {}).exited;
  expect(other).toEqual(said(1, 'Deny: Cannot use the arguments ["open"] of gate: they must be check [--file FILE]'));
});
