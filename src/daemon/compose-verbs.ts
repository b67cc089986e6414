import { Add } from "./attach/add.ts";
import { AttachRecord } from "./attach/attach-record.ts";
import { CheckVerb } from "./attach/check.ts";
import { Earlier } from "./attach/earlier.ts";
import { Planner } from "./attach/planner.ts";
import { PodAccounts } from "./attach/pod-account.ts";
import { PodWants } from "./attach/pod-wants.ts";
import { Resume } from "./attach/resume.ts";
import { RunChains } from "./attach/run-chains.ts";
import type { Ground } from "./compose-ground.ts";
import type { UndoParts } from "./compose-undo.ts";
import { StatusVerb } from "./health/status-verb.ts";
import { LookUp } from "./look-up/look-up.ts";
import type { Verbs } from "./serve/verbs.ts";
import { Del } from "./undo/del.ts";

/** The verbs but GC, and the accounts that know the newest configuration of any call. */
interface ComposedVerbs {
  readonly verbs: Omit<Verbs, "gc">;
  readonly accounts: PodAccounts;
}

/** Every verb but GC, which is in `composeCollect` with the other garbage collection. */
export function composeVerbs(ground: Ground, undo: UndoParts): ComposedVerbs {
  const wants = new PodWants(ground);
  const accounts = new PodAccounts({ ...ground, wants });
  const { lookUp, journal, turns } = doors(ground);
  const earlier = new Earlier({ ...ground, ...undo });
  const planner = new Planner({ ...ground, ...undo, lookUp, accounts });
  const runChains = new RunChains(ground);
  const attachRecord = new AttachRecord({ ...ground, ...undo, journal, runChains });
  const add = new Add({ ...ground, ...undo, accounts, earlier, turns, lookUp, planner, attachRecord });
  const verbs = {
    add,
    resume: new Resume({ ...ground, ...undo, accounts, add, attachRecord }),
    del: new Del({ ...ground, ...undo, turns }),
    check: new CheckVerb(ground),
    status: new StatusVerb(ground),
  };
  return { verbs, accounts };
}

/** The parts in which a call may wait; traced ones where calls are traced. */
function doors(ground: Ground) {
  const { journal, turns, tracedDoors } = ground;
  const lookUp = new LookUp(ground);
  return tracedDoors === undefined
    ? { lookUp, journal, turns }
    : { lookUp: tracedDoors.lookUp(lookUp), journal: tracedDoors.journal(journal), turns: tracedDoors.turns(turns) };
}
