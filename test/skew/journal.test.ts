import { afterEach, beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import type { ChildProcess } from "node:child_process";
import { appendFileSync, copyFileSync, mkdirSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import type { AttachmentsAnswer } from "../../src/wire/node-view.ts";
import { Lab } from "../lab/lab.ts";
import { leftovers } from "../lab/leftovers.ts";
import { furnish, netnsPath, sceneFolder, scenePath, webContainer } from "./scene.ts";
import { transcriptFolder } from "./transcript.ts";
import { withScene } from "./with-scene.ts";

setDefaultTimeout(30_000);

let lab: Lab;

withScene();

beforeEach(async () => {
  lab = await Lab.make();
  await furnish(lab);
  mkdirSync(lab.stateDir, { mode: 0o700 });
});

afterEach(() => lab.remove());

function layOut(...names: string[]): void {
  for (const name of names) copyFileSync(join(transcriptFolder, name), join(lab.stateDir, name));
}

/** A line as another version would write it: with a checksum that is right. */
function line(letter: string, version: number, body: string): string {
  const prefix = `${letter}${version} `;
  return `${prefix}${crc32(body, crc32(prefix)).toString(16).padStart(8, "0")} ${body}\n`;
}

/** Everything below a folder, with content and time of each file. */
function snapshot(folder: string): readonly string[] {
  const entries = readdirSync(folder, { recursive: true, encoding: "utf8" }).toSorted();
  return entries.map((name) => {
    const facts = statSync(join(folder, name), { bigint: true });
    return facts.isFile() ? `${name} ${facts.mtimeNs} ${readFileSync(join(folder, name), "hex")}` : `${name}/`;
  });
}

function exitOf(daemon: ChildProcess): Promise<number | null> {
  return new Promise((resolve) => daemon.once("close", resolve));
}

test("a journal of version 1 opens, and what it holds can be deleted", async () => {
  layOut("journal.log", "containers.idx");
  await lab.startDaemon();
  const { attachments } = await lab.ask<AttachmentsAnswer>({ ask: "attachments" });
  expect(
    attachments.map(({ containerId, pod, phase, networks }) => ({
      containerId,
      pod,
      phase,
      networks: networks.map(({ network, ifname }) => `${network} ${ifname}`),
    })),
  ).toEqual([
    { containerId: webContainer, pod: "web", phase: "attached", networks: ["primary eth0", "default/lan net1"] },
  ]);
  const outcome = await lab.cni("DEL", {
    containerId: webContainer,
    netns: netnsPath,
    path: scenePath,
    args: lab.podArgs("web"),
  });
  expect(outcome).toEqual({ exitCode: 0, signal: null, stdout: "", stderr: "" });
  const calls = readdirSync(join(sceneFolder, "control/calls")).toSorted();
  expect(calls.map((name) => name.replace(/^\d+-/, ""))).toEqual([
    `third-DEL-${webContainer}-net1`,
    `second-DEL-${webContainer}-net1`,
    `first-DEL-${webContainer}-eth0`,
  ]);
  // ADD's own bytes, however odd, with its result spliced in.
  const stdin = readFileSync(join(sceneFolder, "control/calls", calls[0] ?? "", "stdin"), "utf8");
  expect(stdin).toContain('"serial":9007199254740993');
  expect(stdin).toContain('"prevResult"');
  expect(await leftovers(lab)).toEqual([]);
});

test("a journal of version 1 without its index opens too", async () => {
  layOut("journal.log");
  await lab.startDaemon();
  const { attachments } = await lab.ask<AttachmentsAnswer>({ ask: "attachments" });
  expect(attachments.length).toBe(1);
});

test.each([
  [
    "a record of version 2",
    { file: "journal.log", text: line("L", 2, '{"kind":"genesis"}'), seen: "format version 2" },
  ],
  [
    "a record of an unknown kind",
    { file: "journal.log", text: line("L", 1, '{"kind":"quantum"}'), seen: "unknown kind quantum" },
  ],
  ["an index of version 7", { file: "containers.idx", text: line("C", 7, '+"x"'), seen: "version 7" }],
])("%s keeps the daemon from starting, and nothing is written", async (_, { file, text, seen }) => {
  layOut("journal.log", "containers.idx");
  const path = join(lab.stateDir, file);
  const offset = statSync(path).size;
  appendFileSync(path, text);
  const before = snapshot(lab.folder);
  expect(await exitOf(lab.launchDaemon())).toBe(1);
  expect(lab.daemonLog).toContain(`Cannot open ${path} as a newer Levee wrote it`);
  expect(lab.daemonLog).toContain(`at byte ${offset}`);
  expect(lab.daemonLog).toContain(seen);
  expect(lab.daemonLog).toContain("install the newer version again");
  expect(snapshot(lab.folder)).toEqual(before);
});
