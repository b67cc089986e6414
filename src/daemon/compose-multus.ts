import type { Ground } from "./compose-ground.ts";
import type { UndoParts } from "./compose-undo.ts";
import type { MultusSocket } from "./multus/multus-socket.ts";
import type { PlugWatch } from "./plug/plug-watch.ts";
import type { Reception } from "./serve/reception.ts";

interface MultusParts {
  readonly plug: Pick<PlugWatch, "failureOf">;
  readonly reception: Pick<Reception, "call">;
}

/** Nothing, and nothing is loaded, where the settings do not ask for `multus.sock`. */
export async function composeMultus(
  ground: Ground,
  undo: UndoParts,
  { plug, reception }: MultusParts,
): Promise<readonly MultusSocket[]> {
  const { multusSocketDir: folder, waitingMax: requestsMax } = ground.config;
  if (folder === undefined) return [];
  const { openMultus } = await import("./multus/open-multus.ts");
  const { residents, offline } = undo;
  const call: Reception["call"] = (channel, first) => reception.call(channel, first);
  return [await openMultus({ ...ground, folder, residents, offline, plug, call, requestsMax })];
}
