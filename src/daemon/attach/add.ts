import type { Admission } from "../../admission/admission.ts";
import { keepTrying, type Attempts } from "../../admission/keep-trying.ts";
import type { Permit } from "../../admission/permit.ts";
import type { Clock } from "../../base/clock.ts";
import { podArgs } from "../../cni/cni-args.ts";
import type { AddRequest } from "../../cni/verb.ts";
import { closingMs } from "../../config/time-budgets.ts";
import type { DaemonConfig } from "../../config/daemon-config.ts";
import { ChainReports } from "../chains/chain-reports.ts";
import type { Found, LookUp } from "../look-up/look-up.ts";
import type { Call } from "../serve/call.ts";
import type { Reply } from "../serve/reply.ts";
import type { Turns } from "../serve/turns.ts";
import type { Recovery } from "../undo/recovery.ts";
import { admissionOfAdd } from "./admission-request.ts";
import type { AttachRecord } from "./attach-record.ts";
import type { Earlier } from "./earlier.ts";
import type { Planner } from "./planner.ts";
import type { PodAccount, PodAccounts } from "./pod-account.ts";

export interface AddNeeds {
  readonly clock: Clock;
  readonly config: Pick<DaemonConfig, "addUndoMs">;
  readonly accounts: Pick<PodAccounts, "open">;
  readonly earlier: Earlier;
  readonly turns: Pick<Turns, "take">;
  readonly lookUp: Pick<LookUp, "beforeLine">;
  readonly recovery: Pick<Recovery, "settleNetworks">;
  readonly admission: Admission;
  readonly planner: Planner;
  readonly attachRecord: AttachRecord;
}

/** The verb ADD: attaches every network the pod asks for, in order, or none of them. */
export class Add {
  readonly #needs: AddNeeds;

  constructor(needs: AddNeeds) {
    this.#needs = needs;
  }

  async serve(call: Call, request: AddRequest): Promise<Reply> {
    const { accounts, earlier, turns, lookUp, recovery, admission } = this.#needs;
    using held = new DisposableStack();
    // A pod that failed lately and still wants the same is answered from memory.
    const account = await accounts.open(podArgs(request.args), request);
    await account.refuseHeld();
    // Deletes that are due for the pod go first; then one call at a time per container.
    await earlier.settle(call, request);
    held.use(await turns.take(request.containerId, call, call.givenUp));
    await earlier.clear(call, request);
    const found = await account.watch(lookUp.beforeLine(call, request, held));
    const wish = admissionOfAdd(request, found, account);
    await recovery.settleNetworks(call, wish.networks, found.readyByMs);
    const asked = call.asks(wish, admission);
    // Awaited here and not in keepTrying: each function on the way costs a waiting call 600 bytes (ADR 0023).
    const permit = await admission.admit(asked, call.givenUp);
    const reply = await keepTrying(permit, new AddAttempts(call, request, { found, account }, this.#needs));
    return { ...reply, held: held.move() };
  }
}

/** The part of an ADD that needs a slot. A critical pod may make several attempts while its network fails. */
class AddAttempts implements Attempts<Reply> {
  readonly #call: Call;
  readonly #request: AddRequest;
  readonly #pod: { readonly found: Found; readonly account: PodAccount };
  readonly #needs: AddNeeds;

  constructor(call: Call, request: AddRequest, pod: { found: Found; account: PodAccount }, needs: AddNeeds) {
    this.#call = call;
    this.#request = request;
    this.#pod = pod;
    this.#needs = needs;
  }

  async attempt(permit: Permit): Promise<Reply> {
    const { planner, attachRecord } = this.#needs;
    const reports = new ChainReports(permit, this.#pod.account);
    const record = await reports.watch(planner.plan(this.#call, this.#request, this.#pod.found, reports));
    // Durable before the first side effect: after a crash the journal finishes or undoes the rest.
    await attachRecord.begin(this.#request, record);
    return await attachRecord.attach(this.#call, record, reports);
  }

  leftMs(): number {
    return this.#call.remainingMs() - this.#needs.config.addUndoMs - closingMs;
  }

  get admission(): Admission {
    return this.#needs.admission;
  }

  get clock(): Clock {
    return this.#needs.clock;
  }

  get signal(): AbortSignal {
    return this.#call.signal;
  }
}
