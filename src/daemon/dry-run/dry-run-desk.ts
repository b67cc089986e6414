import type { Clock } from "../../base/clock.ts";
import { LeveeError, toLeveeError } from "../../base/errors.ts";
import { GivenUp } from "../../base/given-up.ts";
import type { Logger } from "../../base/log.ts";
import { dryRunContainer, type DryRunAnswer, type DryRunStep } from "../../wire/dry-run.ts";
import type { DryRun, Trial } from "./dry-run.ts";

interface DryRunDeskNeeds {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly dryRun: Pick<DryRun, "run">;
}

/** Where a network is to be tried: an object's name in the cluster. */
interface NetworkToTry {
  readonly namespace: string;
  readonly name: string;
}

/** Commands ask within a second or two for the end of their own. */
const keptMax = 32;

/** One dry run at a time on this node, and how the last ones ended. */
export class DryRunDesk {
  readonly #needs: DryRunDeskNeeds;
  readonly #answers = new Map<string, DryRunAnswer>();
  #running: { readonly network: string; readonly givenUp: GivenUp; readonly ended: Promise<void> } | undefined;
  #isStopped = false;

  constructor(needs: DryRunDeskNeeds) {
    this.#needs = needs;
  }

  /** Begins one and answers at once. Throws "try-later" while another one runs. */
  begin({ namespace, name }: NetworkToTry, id: string = this.#newId()): DryRunAnswer {
    const network = `${namespace}/${name}`;
    if (this.#isStopped) throw new LeveeError("try-later", `Cannot try ${network}: the daemon ends`);
    if (this.#running !== undefined)
      throw new LeveeError("try-later", `Cannot try ${network} now: ${this.#running.network} is being tried here`);
    const containerId = dryRunContainer(this.#newId());
    const started: DryRunAnswer = { id, containerId, network, state: "running", step: "look", ...nothingYet };
    this.#keep(started);
    const givenUp = new GivenUp();
    const ended = this.#run({ namespace, name, containerId, givenUp }, started).finally(
      () => (this.#running = undefined),
    );
    this.#running = { network, givenUp, ended };
    return started;
  }

  answer(id: string): DryRunAnswer | undefined {
    return this.#answers.get(id);
  }

  /** What is under way is taken back, by this daemon or by the next. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#running?.givenUp.giveUp(new LeveeError("cancelled", "The dry run was given up because the daemon ends"));
    await this.#running?.ended;
  }

  /** Never rejects. */
  async #run(of: Omit<Trial, "begins" | "took">, started: DryRunAnswer): Promise<void> {
    const { clock, logger, dryRun } = this.#needs;
    const beganMs = clock.monotonicMs();
    let now = started;
    const change = (more: Partial<DryRunAnswer>): void =>
      this.#keep((now = { ...now, ...more, tookMs: Math.round(clock.monotonicMs() - beganMs) }));
    const trial: Trial = {
      ...of,
      begins: (step) => change({ step }),
      took: (addresses) => change({ addresses }),
    };
    try {
      await dryRun.run(trial);
      change({ state: "passed" });
    } catch (thrown) {
      const error = toLeveeError(thrown, "Cannot try the network");
      const details = error.details === "" ? "" : `: ${error.details}`;
      const state = now.step === "look" ? "refused" : "failed";
      change({
        state,
        reason: `${error.message}${details}`.slice(0, reasonCharsMax),
        remedy: remedyFor(now.step, error),
      });
    }
    const { network, state, step, reason, tookMs } = now;
    logger.info("A network was tried on this node", { network, state, step, reason, tookMs });
  }

  #newId(): string {
    return Buffer.from(this.#needs.clock.randomBytes(8)).toString("hex");
  }

  #keep(answer: DryRunAnswer): void {
    this.#answers.set(answer.id, answer);
    for (const oldest of this.#answers.keys()) {
      if (this.#answers.size <= keptMax) return;
      this.#answers.delete(oldest);
    }
  }
}

const nothingYet = { reason: "", remedy: "", addresses: [], tookMs: 0 };
/** A plugin may print half a megabyte. */
const reasonCharsMax = 1_000;

function remedyFor(step: DryRunStep, { code }: LeveeError): string {
  if (step === "look" && code === "try-later") return "repeat when the node is calm; levee top shows what it does now";
  if (step === "look") return "";
  return remedies[step];
}

const remedies: Readonly<Record<Exclude<DryRunStep, "look">, string>> = {
  ADD: "mend what the plugin names; a pod with this network would fail in the same way",
  CHECK:
    "pods can be attached, but the runtime's CHECK of them would fail: mend what the plugin names, or set disableCheck",
  DEL: "levee leaks on that node shows what is left; the resident hand goes on trying",
  compare: "remove on that node what is left; the plugin's DEL does not",
};
