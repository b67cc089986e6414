import { expect, test } from "bun:test";
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
  const [add, ...addSession] = await seenBy("ADD");
  expect([add, ...addSession]).toEqual(addSession.length === 0 ? ["0"] : ["0", "nice 0"]);
  const [del, ...delSession] = await seenBy("DEL");
  expect([del, ...delSession]).toEqual(addSession.length === 0 ? ["5"] : ["5", "nice 5"]);
});
