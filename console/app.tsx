import type { JSX } from "preact";
import { useEffect } from "preact/hooks";
import type { ConsoleSnapshot } from "../src/wire/console-view.ts";
import { route, type ViewName } from "./base/route.ts";
import { DecisionsView } from "./decisions/decisions-view.tsx";
import { FindView } from "./find/find-view.tsx";
import { Head } from "./frame/head.tsx";
import { LinkBanner } from "./frame/link-banner.tsx";
import { NowView } from "./now/now-view.tsx";
import { ExplainPanel } from "./parts/explain.tsx";
import { RebootsView } from "./reboots/reboots-view.tsx";
import { StormView } from "./storm/storm-view.tsx";
import { isOld, link, snapshot } from "./stream/store.ts";

const viewsByName: Readonly<Record<ViewName, (snapshot: ConsoleSnapshot) => JSX.Element>> = {
  now: NowView,
  storm: StormView,
  decisions: DecisionsView,
  reboots: RebootsView,
  find: FindView,
};

/** The whole page: the head, what is wrong with the connection, and one view. */
export function App(): JSX.Element {
  const { view } = route.value;
  const { value } = snapshot;
  useTitle(value);
  const View = viewsByName[view];
  return (
    <>
      <a class="skip" href="#main" onClick={skipToMain}>
        To the content
      </a>
      <Head snapshot={value} />
      <LinkBanner />
      <main id="main" tabIndex={-1} class={isOld.value ? "is-old" : ""}>
        {value === undefined ? <Boot /> : <View {...value} />}
      </main>
      <ExplainPanel />
    </>
  );
}

/** Before the first snapshot. Without a token there will be none. */
function Boot(): JSX.Element {
  if (link.value.state === "ended") return <h1>Nothing to show yet</h1>;
  return <p class="boot">Levee is reading the cluster…</p>;
}

/** The address is the view's, so the link does not change it. */
function skipToMain(event: Event): void {
  event.preventDefault();
  document.getElementById("main")?.focus();
}

/** A tab among many says whether it needs a person. */
function useTitle(value: ConsoleSnapshot | undefined): void {
  const state = value?.now.state ?? "well";
  useEffect(() => {
    document.title = state === "act" ? "● Levee needs a person" : "Levee";
  }, [state]);
}
