import type { ComponentChildren, JSX } from "preact";

interface ListProps {
  readonly title: string;
  /** Heads of the columns. */
  readonly heads: readonly string[];
  readonly rows: readonly ComponentChildren[];
  /** What an empty list means. */
  readonly none: string;
  readonly note?: string;
}

/** A titled table; `rows` are its `tr`. */
export function List({ title, heads, rows, none, note }: ListProps): JSX.Element {
  return (
    <section class="list">
      <h2>
        {title} {rows.length === 0 ? null : <span class="quiet">{rows.length}</span>}
      </h2>
      {note === undefined ? null : <p class="quiet">{note}</p>}
      {rows.length === 0 ? (
        <p class="quiet">{none}</p>
      ) : (
        <div class="wide" tabIndex={0} role="group" aria-label={title}>
          <table>
            <thead>
              <tr>
                {heads.map((head) => (
                  <th scope="col">{head}</th>
                ))}
              </tr>
            </thead>
            <tbody>{rows}</tbody>
          </table>
        </div>
      )}
    </section>
  );
}
