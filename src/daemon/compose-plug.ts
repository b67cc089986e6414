import type { PodAccounts } from "./attach/pod-account.ts";
import { PodWants } from "./attach/pod-wants.ts";
import type { Ground } from "./compose-ground.ts";
import type { UndoParts } from "./compose-undo.ts";
import { PlugWatch } from "./plug/plug-watch.ts";

/** Changes of the networks of running pods. All but the watch is loaded with the first one. */
export function composePlug(ground: Ground, undo: UndoParts, accounts: Pick<PodAccounts, "conf">): PlugWatch {
  const { admission } = ground;
  return new PlugWatch({
    ...ground,
    residents: undo.residents,
    load: async () => {
      const { PlugLook } = await import("./plug/plug-look.ts");
      return new PlugLook({ ...ground, ...undo, wants: new PodWants(ground), lastConf: () => accounts.conf });
    },
    heldMs: (key) => admission.failuresOf(key)?.nextTryMs ?? 0,
    tell: (token) => undo.afterwork.tell(token),
  });
}
