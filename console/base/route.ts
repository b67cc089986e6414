import { signal } from "@preact/signals";

const views = ["now", "storm", "decisions", "reboots", "find"] as const;
export type ViewName = (typeof views)[number];

/** Where the viewer is: a view, and the names of the thing that is looked at. */
export interface Route {
  readonly view: ViewName;
  readonly names: readonly string[];
}

/** `#find/pod/fc-desktop/rd-1`. An unknown address leads to the first view. */
export function parseRoute(hash: string): Route {
  const [first = "", ...names] = hash.replace(/^#\/?/u, "").split("/").map(decoded);
  const view = views.find((name) => name === first);
  return view === undefined ? { view: "now", names: [] } : { view, names };
}

export function linkTo(view: ViewName, ...names: readonly string[]): string {
  return `#${[view, ...names.map(encodeURIComponent)].join("/")}`;
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    // Typed by hand, with a lone percent sign.
    return part;
  }
}

export const route = signal<Route>(parseRoute(""));

export function followAddress(): void {
  const read = (): void => {
    route.value = parseRoute(location.hash);
  };
  addEventListener("hashchange", read);
  read();
}
