import { LeveeError } from "../../base/errors.ts";

/** Some ninety attachments, for each of which two results are parsed: a page holds up the daemon for 25 ms. */
const pageBytesMax = 49_152;
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
  const byKey = new Map<string, Row>();
  for (const row of rows) {
    const key = keyOf(row);
    if (key > after) byKey.set(key, row);
  }
  // Texts without a comparison of ours: ten thousand calls of one would hold up the daemon.
  const keys = [...byKey.keys()].toSorted();
  const views = fitting(rowsIn(keys, byKey), viewOf, pageBytesMax);
  const next = keys[views.length - 1];
  return views.length === keys.length || next === undefined ? { rows: views } : { rows: views, next };
}

function* rowsIn<Row>(keys: readonly string[], byKey: ReadonlyMap<string, Row>): Generator<Row> {
  for (const key of keys) {
    const row = byKey.get(key);
    if (row !== undefined) yield row;
  }
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
function fitting<Row, View>(rows: Iterable<Row>, viewOf: (row: Row) => View, bytesMax: number): readonly View[] {
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
