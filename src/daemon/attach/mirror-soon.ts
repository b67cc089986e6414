import type { Ports } from "../ports.ts";

/**
 * Writes Multus' files of an attachment when there is time. They are only for going back to Multus, so nobody waits for
 * them; an undo drops this, or removes them again after it. Of the record only the name is kept until then: in a storm
 * a thousand wait here.
 */
export function mirrorSoon(token: string, { journal, mirror, spareTime }: Ports): void {
  spareTime.do(() => {
    const record = journal.findByToken(token);
    if (record !== undefined) void mirror.write(record);
  }, token);
}
