import type { NetworkRoom } from "../../lint/addresses/pool-room.ts";
import { metricFamily, type MetricRow } from "../metrics/metric-family.ts";
import type { NetworkWarning } from "./network-warning.ts";

/** Lines per metric; those with most pods first. */
const networksMax = 100;
const kinds = ["changed", "deleted", "overlap"] as const satisfies readonly NetworkWarning["kind"][];

/** Empty while the definitions cannot be read, so that no one takes silence for good news. */
export function networkMetrics(warnings: readonly NetworkWarning[] | undefined): string {
  if (warnings === undefined) return "";
  return [
    metricFamily(
      "levee_guard_network_warnings",
      "Network definitions that changed or were deleted under running pods, or whose ranges overlap on one segment",
      kinds.map((kind) => [`{kind="${kind}"}`, warnings.filter((one) => one.kind === kind).length]),
    ),
    metricFamily(
      "levee_guard_network_hurt_pods",
      "Running pods of a network definition that changed or was deleted under them",
      rows(hurting(warnings), ({ pods }) => pods),
    ),
    metricFamily(
      "levee_guard_network_changed_timestamp_seconds",
      "When the guard saw the change",
      rows(hurting(warnings), ({ sinceMs = 0 }) => Math.floor(sinceMs / 1_000)),
    ),
    metricFamily(
      "levee_guard_network_overlap",
      "1 for a network definition that gives addresses of an older one on the same segment",
      rows(
        warnings.filter(({ kind }) => kind === "overlap"),
        () => 1,
      ),
    ),
  ].join("");
}

/** Empty while nothing is known; no line for a network that holds no address. */
export function addressMetrics(rooms: readonly NetworkRoom[] | undefined): string {
  if (rooms === undefined) return "";
  const rowsOf = (valueOf: (room: NetworkRoom) => number): readonly MetricRow[] =>
    rooms.map((room) => [`{network="${room.network}"}`, valueOf(room)]);
  return [
    metricFamily(
      "levee_guard_network_addresses",
      "Addresses that whereabouts may give to pods of the cluster",
      rowsOf(({ total }) => total),
    ),
    metricFamily(
      "levee_guard_network_addresses_left",
      "Addresses of these that no container holds",
      rowsOf(({ left }) => left),
    ),
  ].join("");
}

function hurting(warnings: readonly NetworkWarning[]): readonly NetworkWarning[] {
  return warnings.filter(({ kind }) => kind !== "overlap").toSorted((left, right) => right.pods - left.pods);
}

/** The API server's names of definitions need no escaping. */
function rows(warnings: readonly NetworkWarning[], valueOf: (one: NetworkWarning) => number): readonly MetricRow[] {
  return warnings.slice(0, networksMax).map((one) => {
    const { namespace, name } = one.network;
    const kind = one.kind === "overlap" ? "" : `,kind="${one.kind}"`;
    return [`{network="${namespace}/${name}"${kind}}`, valueOf(one)];
  });
}
