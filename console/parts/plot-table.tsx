import type { JSX } from "preact";
import { useSignal } from "@preact/signals";
import { clockText, countText, dayText } from "../base/words.ts";
import type { PlotData } from "./plot-data.ts";

/** Enough to see the shape of an hour, few enough to read. */
const rowsMax = 60;
const dayTextMs = 43_200_000;

/** The same numbers as the plot, newest first. Its rows are made when it is opened. */
export function PlotTable({ title, data }: { readonly title: string; readonly data: PlotData }): JSX.Element {
  const isOpen = useSignal(false);
  return (
    <details
      onToggle={(event) => {
        isOpen.value = event.currentTarget.open;
      }}
    >
      <summary>The same as a table</summary>
      {isOpen.value ? <Rows title={title} data={data} /> : null}
    </details>
  );
}

function Rows({ title, data: { timesMs, series } }: { readonly title: string; readonly data: PlotData }): JSX.Element {
  const step = Math.max(1, Math.ceil(timesMs.length / rowsMax));
  const indexes = timesMs.map((_ms, index) => index).filter((index) => (timesMs.length - 1 - index) % step === 0);
  // Of days, the time of day alone would be there several times.
  const text = (timesMs.at(-1) ?? 0) - (timesMs[0] ?? 0) > dayTextMs ? dayText : clockText;
  return (
    <div class="wide" tabIndex={0} role="group" aria-label={`Table: ${title}`}>
      <table>
        <thead>
          <tr>
            <th scope="col">time</th>
            {series.map(({ label }) => (
              <th scope="col">{label}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {indexes.toReversed().map((index) => (
            <tr>
              <th scope="row">{text(timesMs[index] ?? 0)}</th>
              {series.map(({ values }) => (
                <td class="number">{countText(values[index] ?? 0)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
