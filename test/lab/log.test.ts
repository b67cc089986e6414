import { execFileSync } from "node:child_process";
import { closeSync, constants, openSync, readSync, writeSync } from "node:fs";
import { expect, test } from "bun:test";
import { freePort } from "./free-port.ts";
import { Lab } from "./lab.ts";

interface Line {
  readonly level: string;
  readonly message: string;
  readonly code?: string;
  readonly times?: number;
  readonly pods?: readonly string[];
  readonly logLevel?: string;
}

function linesOf(log: string): readonly Line[] {
  return log
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Line);
}

test("219 ADDs that fail alike are a handful of lines with the number in them", async () => {
  await using lab = await Lab.make();
  const pods = Array.from({ length: 219 }, (_none, index) => `web-${index}`);
  await lab.configure({ logLevel: "info" });
  for (const pod of pods) await lab.pod(pod, { "k8s.v1.cni.cncf.io/networks": "nowhere" });
  await lab.startDaemon();
  const netns = lab.netns("all");
  const outcomes = await Promise.all(
    pods.map((pod, index) => lab.cni("ADD", { containerId: `c${index}`, netns, args: lab.podArgs(pod) })),
  );
  expect(outcomes.filter(({ exitCode }) => exitCode !== 0)).toHaveLength(219);
  expect(await lab.killDaemon("SIGTERM")).toBe(0);

  const failures = linesOf(lab.daemonLog).filter(({ message }) => message === "Not served");
  expect(failures.length).toBeLessThanOrEqual(5);
  expect(failures.reduce((sum, { times = 1 }) => sum + times, 0)).toBe(219);
  expect(failures[0]).toMatchObject({
    level: "warn",
    verb: "ADD",
    namespace: "default",
    pod: expect.stringMatching(/^web-\d+$/) as string,
    container: expect.stringMatching(/^c\d+$/) as string,
    tookMs: expect.any(Number) as number,
    code: "network-unknown",
  });
  expect(failures.at(-1)?.pods?.length).toBe(5);
}, 60_000);

test("SIGUSR1 makes the log louder and SIGUSR2 quieter", async () => {
  await using lab = await Lab.make();
  await lab.configure({ logLevel: "info" });
  const daemon = await lab.startDaemon();
  const levels: string[] = [];
  for (const signal of ["SIGUSR1", "SIGUSR2", "SIGUSR2"] as const) {
    daemon.kill(signal);
    levels.push(
      await lab.until(`the level changes by ${signal}`, async () => {
        const said = linesOf(lab.daemonLog).filter(({ logLevel }) => logLevel !== undefined);
        return said.length > levels.length ? said.at(-1)?.logLevel : undefined;
      }),
    );
  }
  expect(levels).toEqual(["debug", "info", "warn"]);
  expect(await lab.killDaemon("SIGTERM")).toBe(0);
  expect(linesOf(lab.daemonLog).some(({ message }) => message === "The daemon is ending")).toBe(false);
}, 30_000);

test("SIGHUP ends the daemon in good order, as SIGTERM does", async () => {
  await using lab = await Lab.make();
  await lab.configure({ logLevel: "info" });
  await lab.startDaemon();
  expect(await lab.killDaemon("SIGHUP")).toBe(0);
  expect(lab.daemonLog).toContain("The daemon is ending");
}, 30_000);

/** A pipe with a name: who writes has its own, blocking end of it, as a container's process has. */
function pipeIn(lab: Lab): { readonly reader: number; readonly writer: number } {
  const path = lab.path("log.fifo");
  execFileSync("mkfifo", [path]);
  const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  return { reader, writer: openSync(path, constants.O_WRONLY) };
}

function fill(path: string): void {
  const writer = openSync(path, constants.O_WRONLY | constants.O_NONBLOCK);
  const text = "x".repeat(4_096);
  try {
    for (;;) writeSync(writer, text);
  } catch (thrown) {
    expect((thrown as NodeJS.ErrnoException).code).toBe("EAGAIN");
  } finally {
    closeSync(writer);
  }
}

async function attachOne(lab: Lab): Promise<void> {
  const conf = lab.shimConf({ delegates: [{ name: "main", cniVersion: "1.1.0", ...lab.conf("first") }] });
  const call = { containerId: "c1", netns: lab.netns("web"), args: lab.podArgs("web"), conf };
  expect((await lab.cni("ADD", call)).exitCode).toBe(0);
  expect((await lab.cni("DEL", call)).exitCode).toBe(0);
}

async function attaching(): Promise<Lab> {
  const lab = await Lab.make();
  await lab.plugin("first");
  await lab.pod("web", {});
  return lab;
}

test("a log without a reader does not block the daemon, and a later reader gets it", async () => {
  await using lab = await attaching();
  const { reader, writer } = pipeIn(lab);
  fill(lab.path("log.fifo"));
  lab.launchDaemon({}, [], writer);
  closeSync(writer);
  await lab.untilReady();
  await attachOne(lab);

  let log = "";
  const buffer = Buffer.alloc(65_536);
  await lab.until("the log has come", async () => {
    try {
      log += buffer.toString("utf8", 0, readSync(reader, buffer));
    } catch {
      // Nothing there yet.
    }
    return log.includes('"verb":"DEL"') ? true : undefined;
  });
  expect(log).toContain('"message":"The daemon is ready"');
  expect(await lab.killDaemon("SIGTERM")).toBe(0);
  closeSync(reader);
}, 30_000);

test("a log whose reader is gone does not end the daemon, and its lines are counted", async () => {
  await using lab = await attaching();
  const metricsPort = await freePort();
  await lab.configure({ metricsPort });
  const { reader, writer } = pipeIn(lab);
  lab.launchDaemon({}, [], writer);
  closeSync(writer);
  closeSync(reader);
  await lab.untilReady();
  await attachOne(lab);
  const dropped = await lab.until("the lost lines are told", async () => {
    const text = await fetch(`http://127.0.0.1:${metricsPort}/metrics`).then(
      (answer) => answer.text(),
      () => "",
    );
    return /^levee_log_dropped_total (\d+)$/mu.exec(text)?.[1];
  });
  expect(Number(dropped)).toBeGreaterThanOrEqual(2);
  expect(await lab.killDaemon("SIGTERM")).toBe(0);
}, 30_000);
