import { stat } from "node:fs/promises";
import { join } from "node:path";
import type { Admission } from "../../admission/admission.ts";
import type { Cancel } from "../../base/clock.ts";
import { errnoOf, LeveeError, toLeveeError } from "../../base/errors.ts";
import type { DaemonConfig } from "../../config/daemon-config.ts";
import { FolderWatch } from "../../directory/folder-watch.ts";
import { TokenBucket } from "../../kube/outbox/token-bucket.ts";
import { AutoConf } from "./auto-conf.ts";
import { decide, type ConfAction } from "./decide.ts";
import { problemText, type ConfDirFacts, type ConfDirProblem } from "./conf-dir-facts.ts";
import { GivenConf } from "./given-conf.ts";
import { lookAtFolder, type FolderLook } from "./look-at-folder.ts";
import { Mending } from "./mending.ts";
import type { ConfOrigin, WantedConf } from "./conf-origin.ts";
import {
  contestedProblem,
  problemsOf,
  stateOf,
  tamperedProblem,
  unsteadyProblem,
  unwritableProblem,
} from "./conf-dir-state.ts";
import { ConfDirTeller, type ConfDirTellerOptions } from "./conf-dir-teller.ts";
import { sweepWorkFolder, writeConf } from "./write-conf.ts";
import type { Service } from "../service.ts";

interface ConfDirOptions extends ConfDirTellerOptions {
  readonly config: DaemonConfig;
  readonly admission: Pick<Admission, "hurry">;
  /** Resolves to a problem when the runtime cannot find our shim. */
  readonly lookForShim: () => Promise<ConfDirProblem | undefined>;
}

/** Programs write, rename and remove in one go; one look covers all of it. */
const settleMs = 200;
/** inotify drops events when its queue is full, and some file systems send none. */
const lookAgainMs = 15_000;
/** Each check is an order to the hand. A missing shim is checked at every look, since an installer may put it back. */
const shimAgainMs = 60_000;
/** Each write makes the runtime reload all its confs under a lock that pods wait for. A network's agent writes its conf a few times while it starts. */
const writePace = { burst: 5, refillMs: 30_000 };
/** A file that looked broken may have been half written, and an installer may put a missing shim back. */
const brokenAgainMs = 3_000;

/** Keeps the conf by which the runtime finds Levee: writes it when its content changes, mends it when that is safe, never removes it. */
export class ConfDir implements Service {
  readonly #options: ConfDirOptions;
  readonly #origin: ConfOrigin;
  readonly #teller: ConfDirTeller;
  readonly #mending: Mending;
  /** Limits writes that follow the primary network's conf. */
  readonly #pace: TokenBucket;
  readonly #watch: FolderWatch;
  readonly #path: string;
  #stopPoll: Cancel = () => undefined;
  #nextLook: { readonly dueMs: number; readonly cancel: Cancel } | undefined;
  #looking: Promise<void> = Promise.resolve();
  #isStopped = false;
  /** The text that was in force at the last look. */
  #before: string | undefined;
  #shim: { readonly lookedMs: number; readonly problems: readonly ConfDirProblem[] } | undefined;
  /** What another program did to the conf before it was last mended. */
  #tampering = "";
  #facts: ConfDirFacts;

  constructor(options: ConfDirOptions) {
    const { config, clock, logger } = options;
    this.#options = options;
    this.#origin = config.multusConfigFile === "auto" ? new AutoConf(config, clock) : new GivenConf(config);
    this.#teller = new ConfDirTeller(options);
    this.#mending = new Mending(clock);
    this.#pace = new TokenBucket(clock, writePace);
    this.#path = join(config.cniConfigDir, this.#origin.fileName);
    this.#facts = { state: "waiting", path: this.#path, primary: undefined, problems: [], writes: 0 };
    this.#watch = new FolderWatch(
      (folder) => this.#changed(folder),
      (folder, error) =>
        logger.warn("Cannot watch a folder of confs, so the daemon reads it every 15 s", {
          folder,
          reason: error.message,
        }),
    );
  }

  /** Called once the socket listens, so that the runtime never calls a daemon that is not there. */
  async start(): Promise<void> {
    await sweepWorkFolder(this.#options.config.cniConfigDir);
    this.#stopPoll = this.#options.clock.every(lookAgainMs, () => this.#lookIn(0));
    this.#lookNow();
    await this.#looking;
  }

  facts(): ConfDirFacts {
    return this.#facts;
  }

  /** Resolves when no look is under way. */
  settled(): Promise<void> {
    return this.#looking;
  }

  notices(): readonly string[] {
    return this.#facts.problems.map(problemText);
  }

  /** The conf stays: pods that start while the daemon is replaced wait for the next one. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#stopPoll();
    this.#nextLook?.cancel();
    this.#watch.close();
    await this.#looking;
  }

  /** containerd reloads its confs after any change here, and until its calls have ended it begins no other call. */
  #changed(folder: string): void {
    const { config, admission } = this.#options;
    if (folder === config.cniConfigDir) admission.hurry();
    this.#lookIn(settleMs);
  }

  /** The earliest due time wins, so neither a busy file nor a waiting mend postpones a look. */
  #lookIn(delayMs: number): void {
    const { clock } = this.#options;
    const dueMs = clock.monotonicMs() + delayMs;
    if (this.#isStopped || (this.#nextLook !== undefined && this.#nextLook.dueMs <= dueMs)) return;
    this.#nextLook?.cancel();
    const cancel = clock.after(delayMs, () => {
      this.#nextLook = undefined;
      this.#lookNow();
    });
    this.#nextLook = { dueMs, cancel };
  }

  #lookNow(): void {
    this.#looking = this.#looking.then(() => (this.#isStopped ? undefined : this.#look()));
  }

  async #look(): Promise<void> {
    try {
      await this.#watchFolders();
      const wanted = await this.#origin.look();
      await this.#lookForShim();
      this.#conclude(wanted, await this.#settle(wanted));
    } catch (thrown) {
      const reason = toLeveeError(thrown, "Looking").message;
      this.#options.logger.error("Cannot keep the conf directory up to date; trying again", { reason });
    }
  }

  async #settle(wanted: WantedConf): Promise<Settled> {
    const { fileName } = this.#origin;
    const folder = this.#options.config.cniConfigDir;
    let look: FolderLook | undefined;
    try {
      look = await lookAtFolder(folder, fileName);
      const done = await this.#carryOut(decide({ fileName, own: look.own, wanted: wanted.text, before: this.#before }));
      if (done === "written") look = await lookAtFolder(folder, fileName);
      // A text that another program wrote was never in force.
      if (done !== "put-off" && done !== "paced" && look.own.kind !== "absent") this.#before = look.own.text;
      return { look, failure: undefined, done };
    } catch (thrown) {
      if (thrown instanceof LeveeError || errnoOf(thrown) === undefined) throw thrown;
      return { look, failure: unwritableProblem(folder, errnoOf(thrown) ?? ""), done: "kept" };
    }
  }

  /** Writes our own change at once unless there were many lately; answers another program's change only so often. */
  async #carryOut(action: ConfAction): Promise<Done> {
    const { config, logger } = this.#options;
    if (action.act === "nothing") {
      this.#mending.calm();
      return "kept";
    }
    const { fileName, text, tampering } = action;
    const waitMs = tampering === undefined ? this.#pace.waitMs() : this.#mending.waitMs();
    if (waitMs > 0) {
      this.#lookIn(Math.min(waitMs, lookAgainMs));
      return tampering === undefined ? "paced" : "put-off";
    }
    await writeConf(config.cniConfigDir, fileName, text);
    if (tampering === undefined) {
      this.#pace.take();
    } else {
      this.#tampering = tampering;
      this.#mending.mended();
    }
    logger.info("The conf for the runtime was written", {
      path: join(config.cniConfigDir, fileName),
      reason: tampering === undefined ? "its content is new" : `it ${tampering}`,
    });
    return "written";
  }

  async #lookForShim(): Promise<void> {
    const { clock, lookForShim } = this.#options;
    const nowMs = clock.monotonicMs();
    const isThere = this.#shim?.problems.length === 0;
    if (this.#shim !== undefined && isThere && nowMs - this.#shim.lookedMs < shimAgainMs) return;
    const problem = await lookForShim();
    this.#shim = { lookedMs: nowMs, problems: problem === undefined ? [] : [problem] };
  }

  #conclude(wanted: WantedConf, { look, failure, done }: Settled): void {
    const isContested = this.#mending.isContested && done === "put-off";
    const problems = [
      ...wanted.problems,
      ...(failure === undefined ? [] : [failure]),
      ...this.#tamperProblems(isContested),
      ...(done === "paced" ? [unsteadyProblem(this.#path, writePace.refillMs)] : []),
      ...(look === undefined ? [] : problemsOf(look, wanted, this.#path)),
      ...(this.#shim?.problems ?? []),
    ];
    const state = stateOf(look, { isContested, isDue: wanted.text !== undefined });
    const writes = this.#facts.writes + (done === "written" ? 1 : 0);
    this.#facts = { state, path: this.#path, primary: wanted.primary, problems, writes };
    this.#teller.tell(problems);
    const isPassing = problems.some(({ kind, severity }) => kind.endsWith("-unusable") || severity === "failure");
    if (isPassing) this.#lookIn(brokenAgainMs);
  }

  #tamperProblems(isContested: boolean): readonly ConfDirProblem[] {
    if (isContested) return [contestedProblem(this.#path, this.#tampering)];
    const mends = this.#mending.count;
    return mends === 0 ? [] : [tamperedProblem(this.#path, this.#tampering, mends)];
  }

  /** A folder replaced by another one of the same name needs a new watch. */
  async #watchFolders(): Promise<void> {
    const folders = new Set([this.#options.config.cniConfigDir, this.#origin.folder]);
    for (const folder of folders) {
      const facts = await stat(folder).catch(() => undefined);
      if (facts === undefined) folders.delete(folder);
      else this.#watch.add(folder, `${facts.dev}:${facts.ino}`);
    }
    this.#watch.keepOnly(folders);
  }
}

interface Settled {
  /** Undefined when the folder cannot be read. */
  readonly look: FolderLook | undefined;
  readonly failure: ConfDirProblem | undefined;
  readonly done: Done;
}

/** put-off: a mend must wait. paced: a change of the primary's conf must wait. */
type Done = "kept" | "written" | "put-off" | "paced";
