import type { GuardFault } from "./guard-story.ts";
import type { GuardWorld } from "./guard-world.ts";
import type { SimGuard } from "./sim-guard.ts";

const staleMs = 12_000;
const slowAnswerMs = 4_000;
const usualAnswerMs = 12;

type LastingFault = Extract<GuardFault, { forMs: number }>;
type InstantFault = Exclude<GuardFault, LastingFault>;

/** The guard that a fault hits. */
interface Hit {
  readonly world: GuardWorld;
  readonly guard: SimGuard | undefined;
}

/** Begins a fault now. One that lasts ends by itself. */
export function beginGuardFault(world: GuardWorld, fault: GuardFault): void {
  world.say({ kind: "fault", what: JSON.stringify(fault) });
  const leader = world.leadingGuard();
  const follower = world.guards.find((guard) => guard !== leader) ?? leader;
  const hit = { world, guard: fault.kind.endsWith("-follower") ? follower : leader };
  if (!("forMs" in fault)) return instants[fault.kind](hit);
  const turn = (isOn: boolean): void => {
    spells[fault.kind](hit, isOn);
    world.api.wake();
  };
  turn(true);
  world.time.after(fault.forMs, () => turn(false));
}

const instants: Readonly<Record<InstantFault["kind"], (hit: Hit) => void>> = {
  "kill-leader": ({ guard }) => guard?.kill(),
  "kill-follower": ({ guard }) => guard?.kill(),
  "kill-after-write": ({ world }) => void (world.trap = "kill-after-write"),
  "kill-after-change": ({ world }) => void (world.trap = "kill-after-change"),
  "api-expired"({ world }) {
    world.api.compact();
    world.api.wake();
  },
};

const spells: Readonly<Record<LastingFault["kind"], (hit: Hit, isOn: boolean) => void>> = {
  "pause-leader": ({ guard }, isOn) => (isOn ? guard?.pause() : guard?.resume()),
  "cut-leader": ({ guard }, isCut) => void Object.assign(guard?.link ?? {}, { isCut }),
  "cut-follower": ({ guard }, isCut) => void Object.assign(guard?.link ?? {}, { isCut }),
  "late-leader": ({ guard }, isOn) => void Object.assign(guard?.link ?? {}, late(isOn)),
  "api-away": ({ world }, isAway) => void Object.assign(world.api.trouble, { isAway }),
  "watches-away": ({ world }, isFollowAway) => void Object.assign(world.api.trouble, { isFollowAway }),
  "prometheus-away": ({ world }, isAway) => void Object.assign(world.fleet.prometheus, { isAway }),
  "api-busy": ({ world }, isOn) => void Object.assign(world.api.trouble, { busyShare: isOn ? 0.7 : 0 }),
  "api-stale": ({ world }, isOn) => void Object.assign(world.api.trouble, { lagMs: isOn ? staleMs : 0 }),
  "api-slow": ({ world }, isOn) =>
    void Object.assign(world.api.trouble, { answerMsMax: isOn ? slowAnswerMs : usualAnswerMs }),
};

function late(isOn: boolean): { lateShare: number; lateMs: number } {
  return isOn ? { lateShare: 0.4, lateMs: 25_000 } : { lateShare: 0, lateMs: 0 };
}

/** Ends everything that lasts. */
export function calmGuards(world: GuardWorld): void {
  Object.assign(world.api.trouble, {
    isAway: false,
    isFollowAway: false,
    busyShare: 0,
    lagMs: 0,
    answerMsMax: usualAnswerMs,
  });
  world.trap = undefined;
  world.fleet.prometheus.isAway = false;
  for (const { link } of world.guards) Object.assign(link, { isCut: false, ...late(false) });
  world.api.wake();
}
