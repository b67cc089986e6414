// While a call waits, its path may come to lead to the namespace of another container.
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { basename } from "node:path";
import { expect, test } from "bun:test";
import { encodeRun, type RunOrder } from "../../src/wire/messages.ts";
import { readOutcome } from "../../src/wire/outcome.ts";
import { ip } from "./sandbox.ts";
import type { Peer } from "./scripted-daemon.ts";
import { daemon, sandbox, withDaemon } from "./with-daemon.ts";

withDaemon();

/** A call whose namespace has been replaced since it began, and an order of its daemon to work at the path. */
async function moved(verb: string): Promise<{ peer: Peer; order: (command: string) => RunOrder }> {
  const netns = sandbox.netns(verb.toLowerCase());
  const other = sandbox.netns(`${verb.toLowerCase()}-other`);
  sandbox.call(verb, {}, { CNI_NETNS: netns });
  const peer = await daemon.accept();
  await peer.begin();
  ip("netns", "del", basename(netns));
  writeFileSync(netns, "");
  expect(spawnSync("mount", ["--bind", other, netns]).status).toBe(0);
  const plugin = sandbox.plugin("p", 'echo "$CNI_COMMAND in <$CNI_NETNS>" >> "$DIR/ran"');
  const order = (command: string): RunOrder => {
    const run = sandbox.run(plugin);
    return { ...run, env: { ...run.env, CNI_COMMAND: command, CNI_NETNS: netns } };
  };
  return { peer, order };
}

test("an ADD is not run in another namespace than when the call began", async () => {
  const { peer, order } = await moved("ADD");
  peer.send(encodeRun(1, order("ADD")));
  const outcome = readOutcome(await peer.expect("OUTCOME"));
  expect(outcome).toMatchObject({ failure: "refused", message: expect.stringContaining("another network namespace") });
  expect(sandbox.read("ran")).toBe("");
});

test("a DEL is run without a namespace then: its own is gone", async () => {
  const { peer, order } = await moved("DEL");
  peer.send(encodeRun(1, order("DEL")));
  expect(readOutcome(await peer.expect("OUTCOME")).exitCode).toBe(0);
  expect(sandbox.read("ran")).toBe("DEL in <>\n");
});
