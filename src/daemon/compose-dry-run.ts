import { LeveeError } from "../base/errors.ts";
import type { DryRunAnswer, DryRunRequest } from "../wire/dry-run.ts";
import type { Ground } from "./compose-ground.ts";
import type { UndoParts } from "./compose-undo.ts";
import type { DryRunDesk } from "./dry-run/dry-run-desk.ts";
import type { DryRunRequests } from "./dry-run/dry-run-request.ts";
import type { Service } from "./service.ts";

interface DryRunParts {
  readonly undo: UndoParts;
  readonly nodeName: string;
  /** Undefined on a machine without a cluster. */
  readonly read: ((namespace: string, name: string) => Promise<DryRunRequest | undefined>) | undefined;
}

export interface ComposedDryRuns extends Service {
  /** Begins one, for a command on the socket. */
  begin(namespace: string, name: string): Promise<DryRunAnswer>;
  answer(id: string): Promise<DryRunAnswer>;
  /** Answers over HTTP, for a request in the cluster; undefined for an unknown one. */
  request(namespace: string, name: string): Promise<DryRunAnswer | undefined>;
}

interface Loaded {
  readonly desk: DryRunDesk;
  readonly requests: DryRunRequests | undefined;
}

/** Dry runs of networks. All of it is loaded with the first one. */
export function composeDryRuns(ground: Ground, parts: DryRunParts): ComposedDryRuns {
  let loaded: Promise<Loaded> | undefined;
  const desk = async (): Promise<Loaded> => await (loaded ??= load(ground, parts));
  return {
    begin: async (namespace, name) => (await desk()).desk.begin({ namespace, name }),
    answer: async (id) => {
      const answer = (await desk()).desk.answer(id);
      if (answer === undefined)
        throw new LeveeError("try-later", `Cannot tell how the dry run ended: the daemon does not know ${id} any more`);
      return answer;
    },
    // Without a cluster nothing is loaded for those who ask.
    request: async (namespace, name) =>
      parts.read === undefined ? undefined : await (await desk()).requests?.answer(namespace, name),
    stop: async () => await (await loaded)?.desk.stop(),
  };
}

async function load(ground: Ground, { undo, nodeName, read }: DryRunParts): Promise<Loaded> {
  const [{ DryRun }, { DryRunDesk }, { DryRunRequests }] = await Promise.all([
    import("./dry-run/dry-run.ts"),
    import("./dry-run/dry-run-desk.ts"),
    import("./dry-run/dry-run-request.ts"),
  ]);
  const desk = new DryRunDesk({ ...ground, dryRun: new DryRun({ ...ground, ...undo }) });
  return { desk, requests: read === undefined ? undefined : new DryRunRequests({ ...ground, nodeName, desk, read }) };
}
