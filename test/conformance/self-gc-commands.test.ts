// levee gc and levee leaks, the real program against a real daemon: tables, JSON, exit codes.
import { spawn } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "bun:test";
import { distributionPlugins, type Lab } from "../lab/lab.ts";
import { attach, graceMs, lease, runtimeResult, startGcNode } from "./garbage.ts";
import { attachments, containerId, leaks } from "./node.ts";

const leveeProgram = join(import.meta.dir, "../../dist/levee");

interface Ended {
  readonly exitCode: number | null;
  readonly out: string;
  readonly err: string;
}

function levee(lab: Lab, ...args: string[]): Promise<Ended> {
  const child = spawn(leveeProgram, [...args, "--socket-dir", lab.socketDir, "--state-dir", lab.stateDir], {
    env: { PATH: process.env["PATH"] ?? "" },
  });
  let [out, err] = ["", ""];
  child.stdout.on("data", (chunk: Buffer) => (out += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (err += chunk.toString()));
  return new Promise((resolve) => child.on("close", (exitCode) => resolve({ exitCode, out, err })));
}

function rows({ out }: Ended): readonly (readonly string[])[] {
  return out
    .trimEnd()
    .split("\n")
    .map((line) => line.split(/ {3,}/u).map((cell) => cell.trim()));
}

/** Leaves one leak: the plugin fails its DEL until the script is taken away. */
async function withLeak(): Promise<Lab> {
  const lab = await startGcNode({ delAttemptsMax: 1 });
  const netns = await attach(lab, "stuck");
  await lab.script("first.DEL", `echo '{"cniVersion":"1.1.0","code":99,"msg":"store is locked"}'; exit 1`);
  await lab.cni("DEL", { containerId: containerId("stuck"), netns });
  return lab;
}

test("levee gc shows what would be done and why, --fix does it, and the next look finds nothing", async () => {
  await using lab = await startGcNode({ binDir: distributionPlugins });
  await attach(lab, "alive");
  await runtimeResult(lab, containerId("alive"));
  const gone = await attach(lab, "dead");
  lab.deleteNetns(gone);
  await lease(lab.path("cni/networks/lan"), "10.9.0.7", {
    content: `${containerId("lost")}\r\neth0`,
    ageMs: 3_600_000,
  });
  expect(rows(await levee(lab, "gc"))).toEqual([
    ["WHAT", "POD", "NETWORK", "WHY", "ACTION"],
    [
      "attachment",
      "container dead012345678",
      "primary",
      `its network namespace ${gone} is gone`,
      "waits for another look",
    ],
    [
      "lease",
      "container lost012345678",
      "lan 10.9.0.7",
      `this node does not know the container ${containerId("lost")}`,
      "would release",
    ],
  ]);
  await Bun.sleep(graceMs);
  expect(rows(await levee(lab, "gc", "--dry-run")).map((cells) => cells.at(-1))).toEqual([
    "ACTION",
    "would detach",
    "would release",
  ]);
  expect(await attachments(lab)).toHaveLength(2);
  const fixed = await levee(lab, "gc", "--fix");
  expect(fixed).toMatchObject({ exitCode: 0, err: "" });
  expect(rows(fixed).map((cells) => cells.at(-1))).toEqual(["ACTION", "detached", "released"]);
  expect(await levee(lab, "gc")).toEqual({ exitCode: 0, out: "Nothing is left over\n", err: "" });
  expect(JSON.parse((await levee(lab, "gc", "-o", "json")).out)).toMatchObject({
    failure: "",
    findings: [],
    notes: [],
  });
});

test("levee gc fails where nothing can be looked at, where something cannot be removed, and with two wishes at once", async () => {
  await using lab = await startGcNode({ builtinPlugins: "off" }, { withHand: false });
  const blind = await levee(lab, "gc");
  expect(blind.exitCode).toBe(1);
  expect(blind.err).toContain("Cannot look for garbage: no resident hand is connected (try-later)");
  await lab.startHand();
  await attach(lab, "alive");
  await runtimeResult(lab, containerId("alive"));
  await lease(lab.path("cni/networks/lan"), "10.9.0.7", {
    content: `${containerId("lost")}\r\neth0`,
    ageMs: 3_600_000,
  });
  const failed = await levee(lab, "gc", "--fix");
  expect(failed.exitCode).toBe(1);
  expect(failed.out).toContain("failed: lan (eth0): Cannot run host-local");
  expect((await levee(lab, "gc", "--fix", "--dry-run")).exitCode).toBe(2);
});

test("levee gc --fix says that it left alone what it is not certain of, and what it would take", async () => {
  await using lab = await startGcNode();
  lab.deleteNetns(await attach(lab, "only"));
  const { exitCode, out, err } = await levee(lab, "gc", "--fix");
  expect(exitCode).toBe(0);
  expect(out).toContain("so the hand may be blind: look again when another pod runs on this node");
  expect(err).toStartWith("Note: 1 finding is left alone");
});

test("levee leaks --retry has everything tried now, and shows what is left", async () => {
  await using lab = await withLeak();
  const failed = await levee(lab, "leaks", "--retry");
  expect(rows(failed)[1]?.slice(1, 5)).toEqual(["primary", "eth0", "store is locked", "1"]);
  await lab.unscript("first.DEL");
  expect(await levee(lab, "leaks", "--retry")).toEqual({ exitCode: 0, out: "No leaks, no damaged records\n", err: "" });
  await lab.killHand();
  expect((await levee(lab, "leaks", "--retry")).err).toContain("no resident hand is connected");
});

test("levee leaks --forget crosses one entry out, once it is confirmed", async () => {
  await using lab = await withLeak();
  const [leak] = await leaks(lab);
  const id = leak?.id ?? "";
  const asked = await levee(lab, "leaks", "--forget", id.slice(0, 6));
  expect(asked.exitCode).toBe(2);
  expect(asked.err).toContain(`try: levee leaks --forget ${id} --yes`);
  expect(await leaks(lab)).toHaveLength(1);
  expect((await levee(lab, "leaks", "--forget", "ffffffffffffffffff")).err).toContain("There is no leak with the ID");
  expect(await levee(lab, "leaks", "--forget", id, "--yes")).toEqual({
    exitCode: 0,
    out: `${id} is forgotten\n`,
    err: "",
  });
  expect(await leaks(lab)).toEqual([]);
  expect(lab.daemonLog).toContain("A person removed an entry from the leak ledger");
});
