import type { JSX } from "preact";

/** A part of a whole as a thin bar. The number stands beside it, so the bar is decoration for readers of the screen. */
export function Bar({
  used,
  of,
  state = "",
}: {
  readonly used: number;
  readonly of: number;
  readonly state?: string;
}): JSX.Element {
  const share = of <= 0 ? 0 : Math.min(1, used / of);
  return (
    <svg class={`bar ${state}`} viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true">
      <rect class="bar-whole" width="100" height="6" rx="3" />
      <rect class="bar-part" width={share * 100} height="6" rx="3" />
    </svg>
  );
}
