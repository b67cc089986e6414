import { expect, test } from "bun:test";
import { getPriority } from "node:os";
import { encodeRun } from "../../src/wire/messages.ts";
import { readOutcome } from "../../src/wire/outcome.ts";
import { daemon, sandbox, withDaemon } from "./with-daemon.ts";

withDaemon();

/** The nice value of a plugin, and that of its session where the kernel shares cores between sessions. */
async function seenBy(verb: "ADD" | "DEL"): Promise<readonly string[]> {
  const shim = sandbox.call(verb);
  const peer = await daemon.accept();
  await peer.begin();
  const looks = sandbox.plugin("looks", "nice; grep -o 'nice .*' /proc/self/autogroup || true");
  peer.send(encodeRun(1, sandbox.run(looks)));
  const { stdout } = readOutcome(await peer.expect("OUTCOME"));
  await peer.finish();
  expect((await shim.exited).code).toBe(0);
  return Buffer.from(stdout).toString().trim().split("\n");
}

test("the plugins of a DEL give way to those of an ADD where cores are short", async () => {
  // The shim inherits the nice value of this test, and each session has one of its own.
  const own = getPriority();
  const [add, ...addSession] = await seenBy("ADD");
  expect(add).toBe(String(own));
  const [del, ...delSession] = await seenBy("DEL");
  expect(del).toBe(String(Math.min(own + 5, 19)));
  if (addSession.length > 0) expect([...addSession, ...delSession]).toEqual(["nice 0", "nice 5"]);
});
