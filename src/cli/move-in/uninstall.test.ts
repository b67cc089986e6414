import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Journal } from "../../state/journal/journal.ts";
import { aRecord } from "../../state/journal/record.fixture.ts";
import { encodeFrame } from "../../wire/frame.ts";
import { fakeShell } from "../fake-shell.fixture.ts";
import { journalOptions } from "../node/journal-options.fixture.ts";
import { runCli } from "../main.ts";

let root: string;
let confDir: string;
let binDir: string;
let stateDir: string;
let server: Server | undefined;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "levee-uninstall-"));
  [confDir, binDir, stateDir] = [join(root, "net.d"), join(root, "bin"), join(root, "state")];
  for (const folder of [confDir, binDir, join(root, "run")]) mkdirSync(folder, { mode: 0o700 });
  conf("00-levee.conf", { name: "multus-cni-network", type: "levee-shim" });
  conf("10-primary.conflist", { name: "pods", plugins: [{ type: "bridge" }, { type: "portmap" }] });
  writeFileSync(join(binDir, "levee-shim"), "levee-shim: the hands of Levee");
  writeFileSync(join(binDir, "passthru"), "levee-shim: the hands of Levee");
  writeFileSync(join(binDir, "bridge"), "");
});

afterEach(() => {
  server?.close();
  server = undefined;
  rmSync(root, { recursive: true, force: true });
});

function conf(name: string, members: Readonly<Record<string, unknown>>): void {
  writeFileSync(join(confDir, name), JSON.stringify({ cniVersion: "1.0.0", ...members }));
}

async function uninstall(...args: readonly string[]): Promise<{ status: number; out: string; err: string }> {
  const folders = [
    "--conf-dir",
    confDir,
    "--bin-dir",
    binDir,
    "--state-dir",
    stateDir,
    "--socket-dir",
    join(root, "run"),
  ];
  const shell = fakeShell({ argv: ["uninstall", ...folders, ...args] });
  const status = await runCli(shell);
  return { status, out: shell.stdout.text, err: shell.stderr.text };
}

async function attachPod(): Promise<void> {
  const journal = await Journal.open(journalOptions(stateDir));
  await journal.begin(aRecord(1));
  await journal.close();
}

describe("levee uninstall", () => {
  test("removes its conf, says what serves pods next, and keeps shim and journal", async () => {
    await attachPod();
    mkdirSync(join(confDir, ".levee"));
    const { status, out, err } = await uninstall();
    expect({ status, err }).toEqual({ status: 0, err: "" });
    expect(out.split("\n")).toEqual([
      `${confDir}/00-levee.conf is removed`,
      `The runtime uses ${confDir}/10-primary.conflist from now on: network pods (bridge, portmap)`,
      "1 attached pod in the journal: drain the node, or the addresses of their additional networks stay taken",
      `levee-shim stays in ${binDir}, because it may still get the DEL of a pod it attached (--binaries removes it)`,
      `The journal stays in ${stateDir}`,
      "",
    ]);
    expect(readdirSync(confDir)).toEqual(["10-primary.conflist"]);
    expect(readdirSync(binDir).toSorted()).toEqual(["bridge", "levee-shim", "passthru"]);
    expect(existsSync(stateDir)).toBe(true);
  });

  test("can be repeated", async () => {
    await uninstall();
    const { status, out } = await uninstall();
    expect(status).toBe(0);
    expect(out).toStartWith(`There is no conf of Levee in ${confDir}. If this is the first uninstall`);
  });

  test("passes on a node that never ran Levee: Multus must start there too on the way back", async () => {
    rmSync(join(confDir, "00-levee.conf"));
    rmSync(join(binDir, "levee-shim"));
    expect(await uninstall()).toMatchObject({ status: 0, err: "" });
    rmSync(join(confDir, "10-primary.conflist"));
    expect(await uninstall()).toMatchObject({ status: 0, err: "" });
  });

  test("passes over what the runtime passes over, and names other confs that call the shim", async () => {
    writeFileSync(join(confDir, "05-broken.conf"), "{");
    conf("20-copy.conf", { name: "x", type: "levee-shim" });
    writeFileSync(join(confDir, "06-note.txt"), "");
    const { out } = await uninstall();
    expect(out).toContain("10-primary.conflist from now on");
    expect(out).toContain(`${confDir}/20-copy.conf still calls levee-shim: remove it by hand\n`);
  });

  test("--binaries removes programs of ours once no pod needs them", async () => {
    writeFileSync(join(binDir, "passthru"), "somebody else's");
    await attachPod();
    const refused = await uninstall("--binaries");
    expect(refused).toMatchObject({ status: 1, err: expect.stringContaining("1 attached pod on this node") });
    expect(readdirSync(confDir)).toContain("00-levee.conf");
    rmSync(stateDir, { recursive: true });
    const { out } = await uninstall("--binaries");
    expect(out).toContain(`${binDir}/levee-shim is removed\n`);
    expect(out).toContain(`No journal was found in ${stateDir}\n`);
    expect(readdirSync(binDir).toSorted()).toEqual(["bridge", "passthru"]);
  });

  test("prints facts for programs", async () => {
    expect(JSON.parse((await uninstall("-o", "json")).out)).toMatchObject({
      removed: [join(confDir, "00-levee.conf")],
      next: { fileName: "10-primary.conflist", network: "pods", types: ["bridge", "portmap"] },
      others: [],
      stateDir,
    });
  });
});

describe("levee uninstall refuses without --yes, and removes nothing then", () => {
  test("when no conf would be left", async () => {
    rmSync(join(confDir, "10-primary.conflist"));
    writeFileSync(join(confDir, "20-broken.conf"), "{");
    const { status, err } = await uninstall();
    expect(status).toBe(1);
    expect(err).toContain(
      "so the node could not start pods (no-conf-left)\n  try: install the next network first; --yes",
    );
    expect(readdirSync(confDir)).toContain("00-levee.conf");
    const { out } = await uninstall("--yes");
    expect(out).toContain(`No conf is left in ${confDir}: the node cannot start pods until there is one\n`);
    expect(readdirSync(confDir)).not.toContain("00-levee.conf");
  });

  test("when Levee has run here and neither folder holds anything of it: they are not the runtime's", async () => {
    await attachPod();
    rmSync(join(confDir, "00-levee.conf"));
    rmSync(join(binDir, "levee-shim"));
    const { status, err } = await uninstall();
    expect(status).toBe(1);
    expect(err).toContain(`there is no conf of Levee in ${confDir} and no levee-shim in ${binDir}`);
    expect(err).toContain("try: --conf-dir and --bin-dir with the folders of this node's runtime");
    expect((await uninstall("--yes")).status).toBe(0);
  });

  test("while the daemon runs: it would write its conf again", async () => {
    const listening = createServer((socket) => {
      socket.once("data", () => socket.end(encodeFrame("ANSWER", [["answer", '{"answer":{"software":"levee 1"}}']])));
    });
    server = listening;
    await new Promise<void>((resolve) => void listening.listen(join(root, "run/levee.sock"), resolve));
    expect(await uninstall()).toMatchObject({ status: 1, err: expect.stringContaining("(daemon-running)") });
    expect(readdirSync(confDir)).toContain("00-levee.conf");
  });
});

describe("levee uninstall never removes what is not Levee's", () => {
  test.each([
    ["another plugin", '{"cniVersion":"1.0.0","name":"x","type":"bridge"}', "its type is bridge"],
    ["no JSON", "{", "Cannot"],
  ])("%s under our name", async (_, text, seen) => {
    writeFileSync(join(confDir, "00-levee.conf"), text);
    const { status, err } = await uninstall("--yes");
    expect(status).toBe(1);
    expect(err).toContain("it is not Levee's");
    expect(err).toContain(seen);
    expect(readdirSync(confDir)).toContain("00-levee.conf");
  });

  test("a conf folder that is missing is named", async () => {
    rmSync(confDir, { recursive: true });
    expect(await uninstall("--yes")).toMatchObject({
      status: 1,
      err: expect.stringContaining(`Cannot look for confs in ${confDir} (ENOENT)`),
    });
  });
});
