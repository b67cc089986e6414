/** What happens in a simulated world, for its log and its invariants. */
export type SimEvent =
  | {
      readonly kind: "effect";
      readonly node: string;
      readonly verb: "ADD" | "DEL";
      readonly network: string;
      readonly containerId: string;
      readonly ifname: string;
      /** Empty when there was nothing to remove. */
      readonly address: string;
    }
  | {
      /** A plugin starts. */
      readonly kind: "run";
      readonly node: string;
      readonly verb: string;
      readonly network: string;
      readonly containerId: string;
    }
  | { readonly kind: "call"; readonly node: string; readonly verb: string; readonly containerId: string }
  | {
      readonly kind: "answer";
      readonly node: string;
      readonly verb: string;
      readonly containerId: string;
      /** Undefined when the shim was killed. */
      readonly exitCode: number | undefined;
      readonly tookMs: number;
    }
  | {
      readonly kind: "pod";
      readonly node: string;
      readonly pod: string;
      readonly what: "bound" | "running" | "failed" | "deleting" | "gone";
    }
  | { readonly kind: "daemon"; readonly node: string; readonly what: string }
  | {
      readonly kind: "api";
      readonly what: "list" | "watch" | "streamed list";
      /** Who asks for what, where several ask. */
      readonly by?: string;
      readonly resource?: string;
    }
  | {
      /** A daemon asks the API server for one object, or writes one. */
      readonly kind: "request";
      readonly node: string;
      readonly method: string;
      readonly resource: string;
    }
  | { readonly kind: "log"; readonly node: string; readonly level: string; readonly text: string }
  | { readonly kind: "fault"; readonly what: string };

export type SimListener = (event: SimEvent) => void;
