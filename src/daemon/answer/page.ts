import { LeveeError } from "../../base/errors.ts";

/** Some hundred rows: made within milliseconds, and small beside the daemon's memory. */
const pageBytesMax = 131_072;
/** What fits into one frame with the rest of the answer. */
const wholeBytesMax = 900_000;

interface PageOptions<Row, View> {
  /** Where the page before ended; undefined for a program that knows no pages. */
  readonly after: string | undefined;
  /** Unique, and the same at every look. */
  readonly keyOf: (row: Row) => string;
  readonly viewOf: (row: Row) => View;
}

interface Page<View> {
  readonly rows: readonly View[];
  readonly next?: string;
}

/**
 * The rows that fit into one page, in the order of their keys, so that rows that come and go meanwhile move no others.
 * Without pages all rows in their own order, or an error: half a list must not look like a whole one.
 */
export function pageOf<Row, View>(rows: readonly Row[], { after, keyOf, viewOf }: PageOptions<Row, View>): Page<View> {
  if (after === undefined) return { rows: whole(rows, viewOf) };
  const rest = rows
    .filter((row) => keyOf(row) > after)
    .toSorted((left, right) => (keyOf(left) < keyOf(right) ? -1 : 1));
  const views = fitting(rest, viewOf, pageBytesMax);
  const last = rest[views.length - 1];
  return views.length === rest.length || last === undefined ? { rows: views } : { rows: views, next: keyOf(last) };
}

/** As many rows as fit into a frame: for lists of which a person reads the beginning. */
export function beginningOf<Row>(rows: readonly Row[]): readonly Row[] {
  return fitting(rows, (row) => row, wholeBytesMax);
}

function whole<Row, View>(rows: readonly Row[], viewOf: (row: Row) => View): readonly View[] {
  const views = fitting(rows, viewOf, wholeBytesMax);
  if (views.length === rows.length) return views;
  throw new LeveeError(
    "protocol-violated",
    `Cannot answer in one frame: the list has ${rows.length} rows, and ${views.length} fit; use the levee program that came with the running daemon, which asks page by page`,
  );
}

/** At least one row, whatever its size. Stops early, because the rows of a full node take more memory than there is. */
function fitting<Row, View>(rows: readonly Row[], viewOf: (row: Row) => View, bytesMax: number): readonly View[] {
  const views: View[] = [];
  let bytes = 0;
  for (const row of rows) {
    const view = viewOf(row);
    bytes += Buffer.byteLength(JSON.stringify(view)) + 1;
    if (bytes > bytesMax && views.length > 0) break;
    views.push(view);
  }
  return views;
}
