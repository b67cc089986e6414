import { Delegate, type DelegateNeeds } from "./delegate.ts";
import { MultusCalls, type MultusCallsNeeds } from "./multus-calls.ts";
import { MultusSocket, type MultusSocketNeeds } from "./multus-socket.ts";

interface OpenMultusNeeds
  extends MultusCallsNeeds, DelegateNeeds, Omit<MultusSocketNeeds, "calls" | "delegate" | "isReady"> {
  readonly config: DelegateNeeds["config"];
}

/** This file and all below it are loaded late, so that a daemon without `multusSocketDir` does not carry them. */
export async function openMultus(needs: OpenMultusNeeds): Promise<MultusSocket> {
  const isReady = (): boolean => needs.residents.hand() !== undefined;
  const socket = new MultusSocket({
    ...needs,
    calls: new MultusCalls(needs),
    delegate: new Delegate(needs),
    isReady,
  });
  await socket.listen();
  return socket;
}
