import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { chmodSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "../../../base/clock.ts";
import type { CallResult, CallVerb } from "./caller.ts";
import { chainCaller } from "./chain-caller.ts";
import { programCaller } from "./program-caller.ts";

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "levee-caller-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

const sandbox = { namespace: "n", name: "p", uid: "u", containerId: "c1", netnsPath: "/ns/p" };
const common = { clock: systemClock, cniPath: "/plugins", env: { PATH: "/usr/bin:/bin" } };

function program(script: string): string {
  const path = join(folder, "program");
  writeFileSync(path, `#!/bin/sh\n${script}\n`);
  chmodSync(path, 0o755);
  return path;
}

async function call(script: string, verb: CallVerb = "ADD", timeoutMs = 5000): Promise<CallResult> {
  const caller = await programCaller({ ...common, folder, program: program(script), conf: '{"type":"x"}', timeoutMs });
  const end = await caller.call(verb, sandbox);
  expect(caller.running.size).toBe(0);
  expect(readdirSync(folder).toSorted()).toEqual(["program", "stdin.json"]);
  return end;
}

describe("programCaller", () => {
  test("gives the program the configuration and the variables of a runtime", async () => {
    const script = `[ "$(cat)" = '{"type":"x"}' ] && [ "$CNI_COMMAND $CNI_NETNS $CNI_PATH" = "ADD /ns/p /plugins" ] || exit 9; echo '{}'`;
    expect(await call(script)).toEqual({ isOk: true, message: "" });
  });

  test("tells the program's own error", async () => {
    const script = `echo '{"code":11,"msg":"too many","details":"wait"}'; exit 1`;
    expect(await call(script)).toEqual({ isOk: false, code: 11, message: "too many; wait" });
  });

  test("does not take an ADD without a result for success, but a DEL", async () => {
    expect((await call("exit 0")).isOk).toBe(false);
    expect((await call("exit 0", "DEL")).isOk).toBe(true);
  });

  test("tells the signal, the status or the errno of one that says nothing", async () => {
    expect((await call("kill -9 $$")).message).toBe("SIGKILL");
    expect((await call("exit 3")).message).toContain("status 3");
    const missing = await programCaller({ ...common, folder, program: "/nowhere", conf: "" });
    expect((await missing.call("ADD", sandbox)).message).toBe("ENOENT");
  });

  test("takes a file that cannot be opened for a call that failed", async () => {
    const caller = await programCaller({ ...common, folder, program: program("echo '{}'"), conf: "" });
    rmSync(join(folder, "stdin.json"));
    expect(await caller.call("ADD", sandbox)).toEqual({ isOk: false, message: "ENOENT" });
  });

  test("kills the program when its time is over", async () => {
    expect((await call("exec sleep 30", "ADD", 50)).message).toBe("timeout");
  });
});

describe("chainCaller", () => {
  const script = 'echo "$CNI_COMMAND $CNI_IFNAME $(cat)" >> $LOG; [ "$CNI_IFNAME" = bad ] && exit 1; echo "{}"';

  async function chain(ifnames: readonly string[]): Promise<{ ends: readonly boolean[]; lines: string }> {
    const log = join(folder, "log");
    const file = program(script);
    const caller = await chainCaller(
      { ...common, env: { ...common.env, LOG: log }, folder },
      ifnames.map((ifname, at) => ({ program: file, conf: `c${at}`, ifname })),
    );
    const ends = [(await caller.call("ADD", sandbox)).isOk, (await caller.call("DEL", sandbox)).isOk];
    return { ends, lines: (await Bun.file(log).text()).trim().replaceAll("\n", ", ") };
  }

  test("runs the delegates in order and deletes in reverse", async () => {
    const { ends, lines } = await chain(["eth0", "net1"]);
    expect(ends).toEqual([true, true]);
    expect(lines).toBe("ADD eth0 c0, ADD net1 c1, DEL net1 c1, DEL eth0 c0");
  });

  test("ends an ADD at the first failure, but not a DEL", async () => {
    const { ends, lines } = await chain(["eth0", "bad", "net2"]);
    expect(ends).toEqual([false, false]);
    expect(lines).toBe("ADD eth0 c0, ADD bad c1, DEL net2 c2, DEL bad c1, DEL eth0 c0");
  });
});
