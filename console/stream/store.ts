import { computed, signal } from "@preact/signals";
import type { ConsoleSnapshot } from "../../src/wire/console-view.ts";
import { pageClock } from "../base/clock.ts";
import { blindSince } from "./blind-since.ts";
import { Follower, type Link } from "./follow.ts";
import { Server } from "./server.ts";

/** What the page knows. Views read it and never write it. */
export const snapshot = signal<ConsoleSnapshot | undefined>(undefined);
export const link = signal<Link>({ state: "connecting" });
/** When the server was last heard, by the viewer's clock; 0 before the first time. */
const heardWallMs = signal(0);
/** Moves once a second, for ages. */
const nowWallMs = signal(pageClock.wallMs());

/** Since when the server itself sees nothing new; undefined while it sees most of it. */
export const blindSinceMs = computed(() => blindSince(snapshot.value?.sources ?? []));

/** The server is gone, or it sees nothing: everything on the page is of the past. */
export const isOld = computed(
  () => snapshot.value !== undefined && (link.value.state !== "live" || blindSinceMs.value !== undefined),
);

/** The server's clock, by which ages are counted, minus the viewer's. */
const clockGapMs = signal(0);
export const serverNowMs = computed(() => nowWallMs.value + clockGapMs.value);
/** "As of": the server's time when it was last heard; nothing newer is known. */
export const asOfMs = computed(() => blindSinceMs.value ?? heardWallMs.value + clockGapMs.value);

export const server = new Server();

const follower = new Follower({
  clock: pageClock,
  events: (abort) => server.events(abort),
  onSnapshot(next) {
    clockGapMs.value = next.asOfMs - pageClock.wallMs();
    snapshot.value = next;
  },
  onLink(next) {
    link.value = next;
  },
  onHeard() {
    heardWallMs.value = pageClock.wallMs();
  },
});

export function startFollowing(): void {
  follower.start();
  document.addEventListener("visibilitychange", () => {
    if (document.visibilityState === "visible") follower.check();
  });
  addEventListener("online", () => follower.check());
  tick();
}

/** At once, instead of waiting for the back-off. */
export function retryNow(): void {
  follower.check();
}

export function signIn(token: string): void {
  server.signIn(token);
  follower.start();
}

function tick(): void {
  nowWallMs.value = pageClock.wallMs();
  pageClock.after(1_000, tick);
}
