import { expect, setDefaultTimeout } from "bun:test";
import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { closeSync, constants, openSync, readSync } from "node:fs";
import { readdir } from "node:fs/promises";
import type { AttachmentsAnswer, AttachmentView } from "../../src/wire/node-view.ts";
import { Lab, type CniCall, type CniOutcome } from "../lab/lab.ts";

// Real processes on a machine that may be busy with other tests.
setDefaultTimeout(120_000);

/** The pod of these tests: a default network of two plugins as eth0, and one more network of one plugin as net1. */
const pod = "web";
export const addStory = ["ADD alpha eth0", "ADD beta eth0", "ADD gamma net1"];
export const delStory = ["DEL gamma net1", "DEL beta eth0", "DEL alpha eth0"];

/** A node whose daemon is not started yet: short pauses, the pod above, programmable plugins. */
export async function makeNode(settings: Readonly<Record<string, unknown>> = {}): Promise<Lab> {
  const lab = await Lab.make();
  for (const name of ["alpha", "beta", "gamma"]) await lab.plugin(name);
  await lab.network(
    "primary",
    { cniVersion: "1.1.0", name: "primary", plugins: [lab.conf("alpha", { odd: "1500.0" }), lab.conf("beta")] },
    "kube-system",
  );
  await lab.network("second", { cniVersion: "1.0.0", name: "second", ...lab.conf("gamma") });
  await lab.pod(pod, { "k8s.v1.cni.cncf.io/networks": "second" });
  await lab.configure({ clusterNetwork: "primary", undoRetryMs: 100, ...settings });
  return lab;
}

export interface PodCall extends CniCall {
  readonly netns: string;
}

/** A runtime's call for a sandbox of the pod. */
export function podCall(lab: Lab, containerId: string, more: Partial<CniCall> = {}): PodCall {
  return { containerId, netns: lab.netns(containerId), args: lab.podArgs(pod), ...more };
}

/** A daemon that is killed after its Nth journal write, with the state folder already born so that only the call's own writes count. */
export async function startFragile(lab: Lab, write: number): Promise<ChildProcess> {
  await lab.startDaemon();
  await lab.killDaemon("SIGTERM");
  return lab.startDaemon({ LEVEE_FAULT: `journal-write:${write}` });
}

/** More than a pipe holds: the writer is stuck until a reader comes. */
export function longResult(): string {
  const domains = Array.from({ length: 14_000 }, (_, index) => `d${index}.example`);
  return JSON.stringify({ cniVersion: "1.1.0", interfaces: [{ name: "eth0" }], dns: { search: domains } });
}

interface UnreadPipe {
  readonly prefix: readonly string[];
  /** Resolves when the shim writes its result, so it has all of it. */
  untilWritten(): Promise<void>;
  read(): void;
}

/** A pipe for the shim's result that has no reader until the test says so. A paused stream of ours could have read ahead. */
export function unreadPipe(lab: Lab): UnreadPipe {
  const pipe = lab.path("unread");
  execFileSync("mkfifo", [pipe]);
  return {
    untilWritten: async () => {
      // One byte less does not make room for more: a pipe holds pages.
      const file = openSync(pipe, constants.O_RDONLY | constants.O_NONBLOCK);
      await lab.until("the shim writes its result", () => Promise.resolve(hasByte(file) || undefined));
      closeSync(file);
    },
    prefix: ["sh", "-c", `exec "$@" 1<>${pipe}`, "sh"],
    read: () => {
      spawn("cat", [pipe], { stdio: "ignore" });
    },
  };
}

function hasByte(file: number): boolean {
  try {
    return readSync(file, Buffer.alloc(1)) === 1;
  } catch (thrown) {
    if (thrown instanceof Error && "code" in thrown && thrown.code === "EAGAIN") return false;
    throw thrown;
  }
}

export function isDead(process: ChildProcess): boolean {
  return process.exitCode !== null || process.signalCode !== null;
}

/** The calls of the plugins in short: `ADD alpha eth0`. */
export async function story(lab: Lab, command?: string): Promise<readonly string[]> {
  const calls = await lab.calls();
  return calls
    .filter((call) => command === undefined || call.command === command)
    .map((call) => `${call.command} ${call.plugin} ${call.ifname}`);
}

export function expectSuccess(outcome: CniOutcome): void {
  const why = outcome.exitCode === 0 ? "" : `${outcome.signal ?? ""} ${outcome.stdout} ${outcome.stderr}`;
  expect({ exitCode: outcome.exitCode, why }).toEqual({ exitCode: 0, why: "" });
}

/** The error object of a call that must have failed. */
export function errorOf(outcome: CniOutcome): {
  readonly code: number;
  readonly msg: string;
  readonly details?: string;
} {
  expect(outcome.exitCode).toBe(1);
  return JSON.parse(outcome.stdout) as { code: number; msg: string; details?: string };
}

/** The interface names of an ADD's result, in order. */
export function interfacesOf(outcome: CniOutcome): readonly string[] {
  const result = JSON.parse(outcome.stdout) as { interfaces?: readonly { readonly name: string }[] };
  return (result.interfaces ?? []).map(({ name }) => name);
}

export async function attachments(lab: Lab): Promise<readonly AttachmentView[]> {
  return (await lab.ask<AttachmentsAnswer>({ ask: "attachments" })).attachments;
}

export async function untilPhase(lab: Lab, phase: AttachmentView["phase"]): Promise<AttachmentView> {
  return lab.until(`an attachment is ${phase}`, async () =>
    (await attachments(lab)).find((one) => one.phase === phase),
  );
}

/** Waits until a plugin has been called and is in the middle of it. */
export async function untilRunning(lab: Lab, command: string, plugin: string): Promise<void> {
  await lab.until(`${plugin} runs ${command}`, async () => {
    const names = await readdir(lab.path("control/calls"));
    return names.some((name) => name.includes(`-${plugin}-${command}-`)) || undefined;
  });
}

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** Runs the cases a few at a time: most of their time is waiting. The first failure says which case it was. */
export async function eachOf<T>(cases: readonly T[], atOnce: number, run: (one: T) => Promise<void>): Promise<void> {
  const left = [...cases.entries()];
  const failures: Error[] = [];
  const work = async (): Promise<void> => {
    for (let next = left.shift(); next !== undefined; next = left.shift()) {
      const [, one] = next;
      await run(one).catch((thrown: unknown) =>
        failures.push(
          new Error(`case ${JSON.stringify(one)}: ${thrown instanceof Error ? thrown.message : String(thrown)}`, {
            cause: thrown,
          }),
        ),
      );
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  if (failures.length > 0) throw new Error(failures.map((failure) => failure.message).join("\n\n"));
}
