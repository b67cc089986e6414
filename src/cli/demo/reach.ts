import { connect } from "node:net";
import type { Clock } from "../../base/clock.ts";
import { errnoOf } from "../../base/errors.ts";
import { runTool } from "../context.ts";
import { netnsPath } from "../node/netns.ts";
import { isSuccess } from "../run-program.ts";
import type { Shell } from "../shell.ts";

/** A closed port: the refusal is the answer. */
const closedPort = 9;
const reachTimeoutMs = 3000;

export interface Reach {
  readonly from: string;
  readonly to: string;
  readonly isReached: boolean;
  readonly how: string;
}

/** Whether packets go both ways between the pod and its gateway: by ping from the pod, or by a refused connection to it. */
export async function reach(
  shell: Shell,
  route: { readonly netns: string; readonly address: string; readonly gateway: string },
): Promise<Reach> {
  const args = ["netns", "exec", route.netns, "ping", "-c", "1", "-W", "2", route.gateway];
  const ping = await runTool(shell, "ip", args);
  if (isSuccess(ping)) {
    const time = /time=([0-9.]+ ms)/u.exec(ping.stdout)?.[1];
    return {
      from: netnsPath(route.netns),
      to: route.gateway,
      isReached: true,
      how: `ping answered${time === undefined ? "" : ` in ${time}`}`,
    };
  }
  // Ping is missing or may not open its socket. The pod refuses a connection instead, so packets go both ways.
  const how = await knock(shell.clock, route.address);
  return { from: route.gateway, to: route.address, isReached: how.isReached, how: how.words };
}

/** Connects to a closed port. A refusal means that the address answers. */
export function knock(
  clock: Clock,
  address: string,
  port = closedPort,
): Promise<{ readonly isReached: boolean; readonly words: string }> {
  return new Promise((resolve) => {
    const socket = connect({ host: address, port });
    const settle = (isReached: boolean, words: string): void => {
      cancel();
      socket.destroy();
      resolve({ isReached, words });
    };
    const cancel = clock.after(reachTimeoutMs, () => settle(false, `no answer within ${reachTimeoutMs / 1000} s`));
    socket.on("connect", () => settle(true, "the pod accepted a connection"));
    socket.on("error", (error) => {
      const errno = errnoOf(error) ?? error.message;
      settle(errno === "ECONNREFUSED", errno === "ECONNREFUSED" ? "the pod answered a connection" : errno);
    });
  });
}
