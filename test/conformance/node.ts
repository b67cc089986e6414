import { expect, setDefaultTimeout } from "bun:test";
import type { AttachmentsAnswer, AttachmentView, LeaksAnswer, LeakView } from "../../src/wire/node-view.ts";
import { Lab, type CniOutcome, type LabPrograms, type PluginCall } from "../lab/lab.ts";

// Real processes on a machine that may be busy with other tests.
setDefaultTimeout(60_000);

export const networksAnnotation = "k8s.v1.cni.cncf.io/networks";
export const defaultNetworkAnnotation = "v1.multus-cni.io/default-network";

/** Names under which the programmable plugin can be called in every node of this suite. */
const plugins = ["first", "second", "third", "fourth"];

export interface NodeOptions {
  /** Settings of daemon-config.json beside the folders. Unless they name one, the default network is `primary`. */
  readonly settings?: Readonly<Record<string, unknown>>;
  readonly withHand?: boolean;
  /** Other programs than those of this checkout. */
  readonly programs?: LabPrograms;
  /** What the daemon is started with, such as a command that puts it into a cgroup. */
  readonly daemonPrefix?: readonly string[];
  /** Called before the daemon starts. */
  readonly prepare?: (lab: Lab) => Promise<void>;
}

/** A node with the real daemon and shim, whose default network is one programmable plugin called `first`. */
export async function startNode(options: NodeOptions = {}): Promise<Lab> {
  const lab = await Lab.make(options.programs);
  try {
    for (const plugin of plugins) await lab.plugin(plugin);
    const primary = { cniVersion: "1.1.0", name: "primary", ...lab.conf("first") };
    const { settings = {} } = options;
    await lab.configure(
      "clusterNetwork" in settings || "delegates" in settings ? settings : { delegates: [primary], ...settings },
    );
    await options.prepare?.(lab);
    await lab.startDaemon({}, options.daemonPrefix);
    if (options.withHand === true) await lab.startHand();
    return lab;
  } catch (thrown) {
    await lab.remove();
    throw thrown;
  }
}

/** An error object as a plugin prints it. */
export interface CniError {
  readonly cniVersion: string;
  readonly code: number;
  readonly msg: string;
  readonly details?: string;
}

export interface CniResult {
  readonly cniVersion: string;
  readonly interfaces?: readonly { readonly name: string; readonly mac?: string; readonly sandbox?: string }[];
  readonly ips?: readonly {
    readonly address: string;
    readonly gateway?: string;
    readonly version?: string;
    readonly interface?: number;
  }[];
  readonly routes?: readonly { readonly dst: string; readonly gw?: string }[];
  readonly ip4?: {
    readonly ip: string;
    readonly gateway?: string;
    readonly routes?: readonly { readonly dst: string; readonly gw?: string }[];
  };
  readonly ip6?: { readonly ip: string; readonly gateway?: string };
  readonly dns?: Readonly<Record<string, unknown>>;
}

/** The result of an ADD that must have succeeded. */
export function resultOf(outcome: CniOutcome): CniResult {
  expect({ exitCode: outcome.exitCode, why: outcome.exitCode === 0 ? "" : outcome.stdout + outcome.stderr }).toEqual({
    exitCode: 0,
    why: "",
  });
  return JSON.parse(outcome.stdout) as CniResult;
}

/** The error of a call that must have failed. */
export function errorOf(outcome: CniOutcome): CniError {
  expect(outcome.exitCode).toBe(1);
  return JSON.parse(outcome.stdout) as CniError;
}

/** A call that must have succeeded without a word, as all but ADD and VERSION do. */
export function expectSilence(outcome: CniOutcome): void {
  expect({ exitCode: outcome.exitCode, stdout: outcome.stdout }).toEqual({ exitCode: 0, stdout: "" });
}

/** The plugins' calls in short: `ADD first eth0`. */
export async function story(lab: Lab): Promise<readonly string[]> {
  return (await lab.calls()).map((call) => `${call.command} ${call.plugin} ${call.ifname}`);
}

/** The only call of a plugin for a command. */
export async function onlyCall(lab: Lab, command: string, plugin: string): Promise<PluginCall> {
  const found = (await lab.calls()).filter((call) => call.command === command && call.plugin === plugin);
  expect(found).toHaveLength(1);
  return found[0]!;
}

/** What a plugin got on stdin, to read facts from it. */
export function stdinOf(call: PluginCall): Readonly<Record<string, unknown>> {
  return JSON.parse(call.stdin) as Record<string, unknown>;
}

export async function attachments(lab: Lab): Promise<readonly AttachmentView[]> {
  return (await lab.ask<AttachmentsAnswer>({ ask: "attachments" })).attachments;
}

export async function leaks(lab: Lab): Promise<readonly LeakView[]> {
  return (await lab.ask<LeaksAnswer>({ ask: "leaks" })).leaks;
}

/** A container ID as runtimes make them. */
export function containerId(name: string): string {
  return `${name}${"0123456789abcdef".repeat(4)}`.slice(0, 64);
}
