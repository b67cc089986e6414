import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/log.ts";
import type { ConsoleProblem } from "../../wire/console-view.ts";
import type { ConsoleDesk } from "./console-desk.ts";
import type { GateRules } from "./gatekeeper.ts";
import type { PageFiles } from "./page-files.ts";
import type { Viewers } from "./viewer.ts";

export interface ConsoleServerOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  /** An address of this machine; loopback unless somebody asked for another. */
  readonly host: string;
  /** 0 for a free one. */
  readonly port: number;
  /** The rules of the gate, once the port is known. */
  readonly rules: (port: number) => GateRules;
  readonly viewers: Viewers;
  /** The name of the header, in lower case, in which a proxy on this machine passes the viewer's token. */
  readonly proxyHeader?: string | undefined;
  readonly desk: ConsoleDesk;
  readonly files: PageFiles;
  /** The status and words for an error of the desk or of a write. */
  readonly explainFailure: (thrown: unknown) => { readonly status: number; readonly problem: ConsoleProblem };
}
