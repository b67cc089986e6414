import { expect } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import type { AttachmentsAnswer, LeaksAnswer, NodeAnswer } from "../../src/wire/node-view.ts";
import type { Lab } from "../lab/lab.ts";

/** Memory that a batch of hostile input may cost the daemon for good: room for caches and an unlucky moment of the collector. */
const growthKibMax = 16_384;

/** The daemon as it was before a batch, to compare with what it is afterwards. */
export class Health {
  readonly #lab: Lab;
  readonly #pid: number;
  readonly #descriptors: number;
  readonly #residentKib: number;

  private constructor(lab: Lab, pid: number) {
    this.#lab = lab;
    this.#pid = pid;
    this.#descriptors = descriptorsOf(pid).length;
    this.#residentKib = residentKib(pid);
  }

  static of(lab: Lab, pid: number): Health {
    return new Health(lab, pid);
  }

  /** The daemon answers, holds nothing it did not hold before, and has not met a defect of its own. */
  async expectSound(options: { readonly mayLeak?: boolean } = {}): Promise<void> {
    const node = await this.#lab.ask<NodeAnswer>({ ask: "node" });
    expect({ running: node.running, waiting: node.waiting }).toEqual({ running: 0, waiting: 0 });
    const { attachments } = await this.#lab.ask<AttachmentsAnswer>({ ask: "attachments" });
    expect(attachments.map(({ containerId, phase }) => `${containerId} ${phase}`)).toEqual([]);
    if (options.mayLeak !== true) expect((await this.#lab.ask<LeaksAnswer>({ ask: "leaks" })).leaks).toEqual([]);
    await this.#lab.until(
      `no more than ${this.#descriptors} descriptors are open`,
      () => {
        const now = descriptorsOf(this.#pid);
        if (now.length <= this.#descriptors) return Promise.resolve(true);
        return Promise.resolve(undefined);
      },
      5_000,
    );
    expect(childrenOf(this.#pid)).toEqual([]);
    // The collector runs when the daemon has a moment to itself.
    await this.#lab.until(
      `the daemon has grown by less than ${growthKibMax} KiB`,
      () => {
        return Promise.resolve(residentKib(this.#pid) - this.#residentKib < growthKibMax || undefined);
      },
      10_000,
    );
    expect(this.#lab.daemonLog).not.toContain("defect");
    expect(this.#lab.daemonLog).not.toContain('"code":"internal"');
  }
}

function descriptorsOf(pid: number): readonly string[] {
  return readdirSync(`/proc/${pid}/fd`);
}

function residentKib(pid: number): number {
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0);
}

function childrenOf(pid: number): readonly string[] {
  const tasks = readdirSync(`/proc/${pid}/task`);
  return tasks.flatMap((task) =>
    readFileSync(`/proc/${pid}/task/${task}/children`, "utf8")
      .split(" ")
      .filter((child) => child !== ""),
  );
}
