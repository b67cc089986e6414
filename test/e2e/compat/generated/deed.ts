import { readFile } from "node:fs/promises";
import type { CniCall, CniOutcome } from "../../../lab/lab.ts";
import { pathOf } from "../../manifests.ts";
import { pause, until } from "../../until.ts";
import { filesIn } from "../../../lab/leftovers.ts";
import { networksAnnotation, type Pod } from "../compat-cluster.ts";
import { isReal, type GeneratedCase } from "./generated-case.ts";
import type { Stage } from "./stage.ts";

const statusAnnotation = "k8s.v1.cni.cncf.io/network-status";
/** Levee's is on its way when ADD answers. */
const statusMs = 3_000;
/** After so many failed DELs Levee gives up. */
const deletesMax = 4;

export type Side = "m" | "l";

/** One run of a recording plugin. */
export interface PluginRun {
  readonly what: string;
  readonly env: Readonly<Record<string, string>>;
  readonly stdin: string;
}

/** One meta-CNI's work for a case. Its texts name the side, the pod's UID and random devices as the other's do. */
export interface Deed {
  readonly isServed: boolean;
  /** The result, or the error's words. */
  readonly answer: string;
  readonly isDeleted: boolean;
  readonly added: readonly PluginRun[];
  readonly deleted: readonly PluginRun[];
  readonly status: string | undefined;
  readonly left: readonly string[];
}

/** A container on one side, from its pod to what DEL left. */
export class Attempt {
  readonly name: string;
  readonly side: Side;
  readonly #stage: Stage;
  readonly #case: GeneratedCase;
  readonly #conf: Readonly<Record<string, unknown>>;
  #pod: Pod | undefined;
  #call: CniCall = { containerId: "" };
  #outcome: CniOutcome | undefined;
  #runsOfAdd = 0;
  #isDeleted = false;
  #links: readonly string[] = [];

  constructor(stage: Stage, one: GeneratedCase, side: Side) {
    this.#stage = stage;
    this.#case = one;
    this.side = side;
    this.name = `${side}-${one.id}`;
    this.#conf = JSON.parse(stage.text(one, JSON.stringify(one.conf))) as Record<string, unknown>;
  }

  async add(by: Side = this.side): Promise<void> {
    const { lab, multus } = this.#stage;
    const pod = await this.#stage.pod(this.#case, this.name);
    this.#pod = pod;
    const { namespace = "", uid } = pod.metadata;
    this.#call = {
      containerId: this.name,
      netns: lab.netns(this.name),
      args: `${lab.podArgs(this.name, namespace)};K8S_POD_INFRA_CONTAINER_ID=infra;K8S_POD_UID=${uid}`,
      path: lab.path("bin"),
      conf: lab.shimConf(this.#conf),
    };
    this.#outcome = by === "m" ? await multus.cni("ADD", this.#call, this.#conf) : await lab.cni("ADD", this.#call);
    this.#runsOfAdd = (await this.#runs()).length;
  }

  get isServed(): boolean {
    return this.#outcome?.exitCode === 0;
  }

  /** The pod's network-status now. */
  async status(): Promise<string | undefined> {
    const { namespace = "", name = "" } = this.#pod?.metadata ?? {};
    const pod = await this.#stage.api.get(pathOf("Pod", namespace, name));
    return pod.metadata.annotations?.[statusAnnotation];
  }

  async untilStatus(): Promise<void> {
    const endsMs = performance.now() + statusMs;
    while ((await this.status()) === undefined && performance.now() < endsMs) await pause(20);
  }

  /** Levee writes the files for a Multus that comes back after it has answered. */
  async untilMirrored(): Promise<void> {
    const networks = JSON.parse(this.#case.annotations[networksAnnotation] ?? "[]") as readonly unknown[];
    await until(`Multus' files of ${this.name} are written`, async () => {
      const names = (await filesIn(this.#stage.lab.cniDir)).filter((file) => file.includes(this.name));
      return names.length === networks.length + 2 || undefined;
    });
  }

  async delete(by: Side = this.side): Promise<void> {
    const { lab, multus } = this.#stage;
    if (by === "m") this.#isDeleted = (await multus.complaint("DEL", this.#call, this.#conf)) === undefined;
    else {
      this.#isDeleted = (await lab.cni("DEL", this.#call)).exitCode === 0;
      let isDone = this.#isDeleted;
      for (let turn = 1; !isDone && turn < deletesMax; turn += 1)
        isDone = (await lab.cni("DEL", this.#call)).exitCode === 0;
    }
    this.#links = isReal(this.#case) ? await linksIn(this.#call.netns ?? "") : [];
    lab.deleteNetns(this.#call.netns ?? "");
  }

  /** What is left besides the interfaces is known at the end of all cases. */
  async deed(status: string | undefined, left: readonly string[]): Promise<Deed> {
    const runs = await this.#runs();
    const { stdout = "" } = this.#outcome ?? {};
    return {
      isServed: this.isServed,
      answer: this.#plain(this.isServed ? stdout : wordsOf(stdout)),
      isDeleted: this.#isDeleted,
      added: runs.slice(0, this.#runsOfAdd),
      deleted: runs.slice(this.#runsOfAdd),
      status: status === undefined ? undefined : this.#plain(status),
      left: [...this.#links, ...left].map((text) => this.#plain(text)),
    };
  }

  async #runs(): Promise<readonly PluginRun[]> {
    const file = this.#stage.lab.path("cases", this.#case.id, `calls.${this.name}`);
    const parts = (await readFile(file, "utf8").catch(() => "")).split("\0");
    return Array.from({ length: Math.floor(parts.length / 3) }, (_, index) => {
      const [plugin = "", exports = "", stdin = ""] = parts.slice(index * 3, index * 3 + 3);
      const env = Object.fromEntries(
        [...this.#plain(exports).matchAll(/^export (\w+)='(.*)'$/gmu)].map(([, name = "", value = ""]) => [
          name,
          value,
        ]),
      );
      return { what: `${env["CNI_COMMAND"]} ${plugin} ${env["CNI_IFNAME"]}`, env, stdin: this.#plain(stdin) };
    });
  }

  #plain(text: string): string {
    return text
      .replaceAll(this.name, `x-${this.#case.id}`)
      .replaceAll(this.#pod?.metadata.uid ?? "\0", "UID")
      .replaceAll(/veth[0-9a-f]{8}/gu, "VETH")
      .replaceAll(/\b(?!02:00:00)(?:[0-9a-f]{2}:){5}[0-9a-f]{2}\b/gu, "MAC")
      .replaceAll(/[^"]*\/devinfo\/cni\//gu, "DEVINFO/");
  }
}

/** The links of a namespace besides `lo`. Not by `ip`, which opens every namespace of the machine. */
async function linksIn(netns: string): Promise<readonly string[]> {
  const child = Bun.spawn(["nsenter", `--net=${netns}`, "cat", "/proc/self/net/dev"], { stdout: "pipe" });
  const text = await new Response(child.stdout).text();
  const names = [...text.matchAll(/^ *([^:|]+):/gmu)].map(([, name = ""]) => name);
  return names.filter((name) => name !== "lo").map((name) => `interface ${name}`);
}

/** Multus' shim puts the daemon's answer between quotes, and the whole configuration behind it. */
function wordsOf(stdout: string): string {
  try {
    const { msg, details = "" } = JSON.parse(stdout) as { msg: string; details?: string };
    return `${msg.replace(/\n': StdinData: .*$/su, "")}${details === "" ? "" : `; ${details}`}`;
  } catch {
    return stdout;
  }
}
