import { expect, test } from "bun:test";
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, statSync, writeFileSync } from "node:fs";
import { encodeRemove } from "../../src/wire/messages.ts";
import { readOutcome, type Outcome } from "../../src/wire/outcome.ts";
import type { Peer } from "./scripted-daemon.ts";
import { daemon, sandbox, withDaemon } from "./with-daemon.ts";

withDaemon();

async function resident(): Promise<Peer> {
  sandbox.resident();
  const peer = await daemon.accept();
  await peer.expect("RESIDENT");
  peer.welcome(60_000);
  return peer;
}

/** A file of host-local with the lock of its network beside it. */
function leaseFile(): { readonly path: string; readonly lock: string; readonly changedWallMs: number } {
  const folder = sandbox.path("networks/lan");
  mkdirSync(folder, { recursive: true });
  writeFileSync(`${folder}/lock`, "");
  const path = `${folder}/10.1.0.2`;
  writeFileSync(path, "");
  return { path, lock: `${folder}/lock`, changedWallMs: Math.floor(statSync(path).mtimeMs) };
}

async function outcomeOf(peer: Peer, order: Uint8Array): Promise<Outcome> {
  peer.send(order);
  return readOutcome(await peer.expect("OUTCOME"));
}

test("REMOVE: the resident hand removes a file as it was seen, and a file that is gone is no failure", async () => {
  const peer = await resident();
  const file = leaseFile();
  expect((await outcomeOf(peer, encodeRemove(1, file))).failure).toBeUndefined();
  expect(existsSync(file.path)).toBe(false);
  expect(existsSync(file.lock)).toBe(true);
  expect((await outcomeOf(peer, encodeRemove(2, file))).failure).toBeUndefined();
});

test("REMOVE: a file that was written since stays, and so does one whose lock is not there", async () => {
  const peer = await resident();
  const file = leaseFile();
  expect(await outcomeOf(peer, encodeRemove(1, { ...file, changedWallMs: file.changedWallMs - 1 }))).toMatchObject({
    failure: "remove",
    errno: 116,
    message: `Cannot remove ${file.path}: it is not the file any more that the daemon saw`,
  });
  expect(await outcomeOf(peer, encodeRemove(2, { ...file, lock: `${file.lock}-none` }))).toMatchObject({
    failure: "remove",
    errno: 2,
    message: `Cannot lock ${file.lock}-none: No such file or directory (errno 2)`,
  });
  expect(existsSync(file.path)).toBe(true);
});

test("REMOVE: waits while the owner holds its lock, and does other work meanwhile", async () => {
  const peer = await resident();
  const file = leaseFile();
  const owner = spawn("flock", [file.lock, "sh", "-c", "echo; read _"], { stdio: ["pipe", "pipe", "ignore"] });
  await new Promise((resolve) => owner.stdout.once("data", resolve));
  peer.send(encodeRemove(1, file));
  const other = { ...file, path: `${file.path}0`, lock: `${file.lock}-none` };
  expect(await outcomeOf(peer, encodeRemove(2, other))).toMatchObject({ failure: "remove", errno: 2 });
  expect(existsSync(file.path)).toBe(true);
  // The owner writes before it lets go, as host-local does.
  await Bun.sleep(20);
  writeFileSync(file.path, "container-1\r\neth0");
  owner.stdin.end();
  expect(readOutcome(await peer.expect("OUTCOME"))).toMatchObject({ failure: "remove", errno: 116 });
  expect(existsSync(file.path)).toBe(true);
});

test("REMOVE: refused for what is no plain path, and for a call", async () => {
  const peer = await resident();
  const file = leaseFile();
  for (const path of ["networks/lan/10.1.0.2", `${sandbox.root}/../x`]) {
    expect(await outcomeOf(peer, encodeRemove(1, { ...file, path }))).toMatchObject({ failure: "refused" });
    expect(await outcomeOf(peer, encodeRemove(2, { ...file, lock: path }))).toMatchObject({ failure: "refused" });
  }
  sandbox.call("DEL");
  const call = await daemon.accept();
  await call.begin();
  expect(await outcomeOf(call, encodeRemove(1, file))).toMatchObject({ failure: "refused" });
  await call.finish();
  expect(existsSync(file.path)).toBe(true);
});
