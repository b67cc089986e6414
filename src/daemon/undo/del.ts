import { deadline } from "../../base/clock.ts";
import { LeveeError } from "../../base/errors.ts";
import type { DelRequest } from "../../cni/verb.ts";
import { admissionOfDel } from "../attach/admission-request.ts";
import { noteAsked } from "../attach/note-asked.ts";
import type { Call } from "../serve/call.ts";
import { ChainReports } from "../chains/chain-reports.ts";
import type { Ports } from "../ports.ts";
import { deleteUnknown } from "./delete-unknown.ts";
import { deleteRecord } from "./undo.ts";
import { silence, type Reply } from "../serve/reply.ts";

/** Detaches what ADD attached, with ADD's own bytes. Early, late and repeated DELs all succeed. */
export async function del(call: Call, request: DelRequest, ports: Ports): Promise<Reply> {
  ports.turns.cancelAdd(request.containerId);
  await ports.deletes.run(`${request.containerId}/${request.ifname}`, call.signal, () => detach(call, request, ports));
  return silence;
}

async function detach(call: Call, request: DelRequest, ports: Ports): Promise<void> {
  const waitMs = ports.config.delQueueMs;
  const late = (): LeveeError =>
    new LeveeError(
      "try-later",
      `Cannot delete ${request.containerId} now as its turn did not come within ${waitMs} ms`,
    );
  using limit = deadline(ports.clock, waitMs, late, call.signal);
  using _turn = await ports.turns.take(request.containerId, { verb: "DEL", cancel: () => undefined }, limit.signal);
  const key = { containerId: request.containerId, ifname: request.ifname };
  const asked = noteAsked(call, admissionOfDel(request, ports.journal.find(key)), ports);
  using permit = await ports.admission.admit(asked, limit.signal);

  const now = { path: request.netns ?? "", identity: call.header.netnsIdentity };
  const record = ports.journal.find(key);
  const reports = new ChainReports(permit);
  if (record === undefined)
    return await deleteUnknown(call.hand, { ...request, now, config: () => call.config(), reports }, ports);
  try {
    await ports.recovery.proveGone(call.hand, record);
    await deleteRecord(record, { hand: call.hand, now, reports }, ports);
  } catch (thrown) {
    // The runtime wants it gone; if this shim cannot finish, somebody else will.
    if (call.hand.isLost) ports.recovery.lostDelete(record.token, call.hand.identity);
    throw thrown;
  }
}
