import { expect, test } from "bun:test";
import { readlinkSync } from "node:fs";
import { encodeRun, encodeStat, readHandIdentity } from "../../src/wire/messages.ts";
import { encodeLinks, readNetnsLinks } from "../../src/wire/netns-links.ts";
import { readOutcome } from "../../src/wire/outcome.ts";
import { hostLinks, ipIn, lasting } from "./sandbox.ts";
import type { Peer } from "./scripted-daemon.ts";
import type { ShimProcess } from "./shim-process.ts";
import { daemon, sandbox, withDaemon } from "./with-daemon.ts";

withDaemon();

/** In a mount namespace of the hand's own. Not a folder of the sandbox, which is removed with all that is below it. */
const mountPoint = "/mnt";

/** As its pod does: the host's root folder mounted below a folder of its own, with what is mounted there later. */
function inPod(...namespaces: readonly string[]): ShimProcess {
  const mounted = 'mount --rbind / "$0" && mount --make-rslave "$0" && exec "$@"';
  const through = ["unshare", "--mount", "--propagation", "slave", ...namespaces, "/bin/sh", "-c", mounted];
  const options = ["--resident", "--root", mountPoint, "--socket-dir", sandbox.socketDir];
  return sandbox.start(options, "", {}, [...through, mountPoint]);
}

async function welcomed(): Promise<{ peer: Peer; pidNamespace: number }> {
  const peer = await daemon.accept();
  const { pidNamespace } = readHandIdentity(await peer.expect("RESIDENT"));
  peer.welcome(60_000);
  return { peer, pidNamespace };
}

function canSeeInit(): boolean {
  try {
    return readlinkSync("/proc/1/ns/net") !== "";
  } catch {
    return false;
  }
}

async function messages(hand: ShimProcess): Promise<readonly string[]> {
  hand.signal("SIGTERM");
  const { stderr } = await hand.exited;
  return stderr.split("\n").flatMap((line) => (line === "" ? [] : [(JSON.parse(line) as { message: string }).message]));
}

test("with the host's namespaces it sees the host: its interfaces, its processes, and namespaces that are made later", async () => {
  const hand = inPod();
  const { peer, pidNamespace } = await welcomed();
  const shim = sandbox.call("STATUS");
  const call = await daemon.accept();
  expect(readHandIdentity(await call.begin()).pidNamespace).toBe(pidNamespace);
  await call.finish();
  await shim.exited;
  const before = hostLinks();
  peer.send(encodeLinks(1, ""));
  const { names } = readNetnsLinks(await peer.expect("OUTCOME")).value;
  expect(lasting(before).filter((name) => !names.includes(name))).toEqual([]);
  const later = sandbox.netns("later");
  ipIn(later, "link", "add", "net1", "type", "bridge");
  peer.send(encodeLinks(2, later));
  expect(readNetnsLinks(await peer.expect("OUTCOME")).value.names.toSorted()).toEqual(["lo", "net1"]);
  peer.send(encodeStat(3, [later]));
  expect(readOutcome(await peer.expect("OUTCOME")).found[0]).toBeDefined();
  const plugin = sandbox.plugin("p", 'echo "$PATH"; nsenter --net="$CNI_NETNS" ip -o link | wc -l');
  const order = sandbox.run(plugin, { scratchNetns: true });
  peer.send(encodeRun(4, { ...order, env: { ...order.env, CNI_NETNS: "" } }));
  const outcome = readOutcome(await peer.expect("OUTCOME"));
  expect({ exitCode: outcome.exitCode, stderr: outcome.stderr }).toEqual({ exitCode: 0, stderr: "" });
  // A hand that was given no PATH still gives plugins one.
  expect(Buffer.from(outcome.stdout).toString()).toStartWith("/usr/local/sbin:");
  const told = await messages(hand);
  expect(told.filter((message) => message.includes("namespace:"))).toEqual([]);
});

test("without them it says which are lacking and what its pod needs, and goes on", async () => {
  const hand = inPod("--pid", "--fork", "--kill-child", "--net");
  const { peer, pidNamespace } = await welcomed();
  const own = sandbox.call("STATUS");
  const call = await daemon.accept();
  // By this the daemon knows not to ask it about processes.
  expect(readHandIdentity(await call.begin()).pidNamespace).not.toBe(pidNamespace);
  await call.finish();
  await own.exited;
  const plugin = sandbox.plugin("p", 'readlink "$CNI_NETNS"');
  const order = sandbox.run(plugin, { scratchNetns: true });
  peer.send(encodeRun(1, { ...order, env: { ...order.env, CNI_NETNS: "" } }));
  expect(Buffer.from(readOutcome(await peer.expect("OUTCOME")).stdout).toString()).toMatch(/^net:\[\d+\]\n$/);
  hand.kill();
  const { stderr } = await hand.exited;
  expect(stderr).toContain("not in the host's pid namespace: its pod needs hostPID: true");
  if (canSeeInit()) expect(stderr).toContain("not in the host's net namespace: its pod needs hostNetwork: true");
  expect(stderr).toContain("Connected to the daemon");
});
