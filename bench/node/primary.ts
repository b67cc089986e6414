import { ofMachine } from "../../test/e2e/leftovers.ts";
import type { Contender } from "./contender.ts";
import type { ContainerGroup } from "./container-group.ts";

/** The runtime calls the primary CNI's plugins itself: the best that the node can do, with one network less. */
export class Primary implements Contender {
  async start(): Promise<void> {
    // The cluster starts with its conf.
  }

  group(): ContainerGroup | undefined {
    return undefined;
  }

  async restarts(): Promise<number> {
    return 0;
  }

  async story(): Promise<string> {
    return "";
  }

  async left(): Promise<readonly string[]> {
    return ofMachine();
  }

  tend(): void {
    // It has no process that could need a restart.
  }
}
