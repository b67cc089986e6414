import { useSignal } from "@preact/signals";
import type { ComponentChildren, JSX } from "preact";
import { useEffect } from "preact/hooks";
import type { ConsoleProblem } from "../../src/wire/console-view.ts";
import { problemFrom } from "../stream/server.ts";
import { server, snapshot } from "../stream/store.ts";

type Found<T> = { readonly answer: T } | { readonly problem: ConsoleProblem } | undefined;

/** Asks the server for one thing, and again when the cluster has changed, a few seconds apart. */
export function Asked<T>(props: {
  readonly path: string;
  readonly children: (answer: T) => ComponentChildren;
}): JSX.Element {
  const { path, children } = props;
  const found = useSignal<Found<T>>(undefined);
  const turn = Math.floor((snapshot.value?.asOfMs ?? 0) / refreshMs);
  useEffect(() => {
    const abort = new AbortController();
    void ask<T>(path, abort.signal).then((next) => {
      if (!abort.signal.aborted) found.value = next;
    });
    return () => abort.abort();
  }, [path, turn]);
  const { value } = found;
  if (value === undefined) return <p class="quiet">Asking…</p>;
  if ("answer" in value) return <>{children(value.answer)}</>;
  return (
    <div role="alert" class="said is-failed">
      <p>{value.problem.message}</p>
      {value.problem.remedy === "" ? null : <p>{value.problem.remedy}</p>}
    </div>
  );
}

const refreshMs = 5_000;

async function ask<T>(path: string, abort: AbortSignal): Promise<Found<T>> {
  try {
    return { answer: await server.get<T>(path, abort) };
  } catch (thrown) {
    return { problem: problemFrom(thrown) };
  }
}
