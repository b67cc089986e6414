import type { JSX } from "preact";

/** States as a shape and a word, so that colour is never the only sign. */
export type SignState = "ok" | "busy" | "warning" | "failed" | "unknown";

const shapes: Readonly<Record<SignState, JSX.Element>> = {
  ok: <circle cx="8" cy="8" r="4.2" />,
  busy: <path d="M8 2.5a5.5 5.5 0 1 1 0 11a5.5 5.5 0 1 1 0-11zm0 2v7a3.5 3.5 0 0 0 0-7z" fill-rule="evenodd" />,
  warning: <path d="M8 1.8 15 14H1z" />,
  failed: (
    <path
      d="M1.5 1.5h13v13h-13zM4 5.4 6.6 8 4 10.6 5.4 12 8 9.4 10.6 12 12 10.6 9.4 8 12 5.4 10.6 4 8 6.6 5.4 4z"
      fill-rule="evenodd"
    />
  ),
  unknown: (
    <path
      d="M8 2.5a5.5 5.5 0 1 1 0 11a5.5 5.5 0 1 1 0-11zm0 1.8a3.7 3.7 0 1 0 0 7.4a3.7 3.7 0 1 0 0-7.4z"
      fill-rule="evenodd"
    />
  ),
};

export const stateWords: Readonly<Record<SignState, string>> = {
  ok: "ready",
  busy: "busy",
  warning: "worth a look",
  failed: "broken",
  unknown: "not heard",
};

export function Sign({ state, label }: { readonly state: SignState; readonly label?: string }): JSX.Element {
  return (
    <span class={`sign is-${state}`}>
      <svg viewBox="0 0 16 16" aria-hidden="true">
        {shapes[state]}
      </svg>
      {label === "" ? null : <span>{label ?? stateWords[state]}</span>}
    </span>
  );
}

/** The server says some states as free words. */
export function signOf(state: string): SignState {
  return isSignState(state) ? state : (otherWords[state.toLowerCase()] ?? "unknown");
}

const otherWords: Readonly<Record<string, SignState>> = {
  "ready": "ok",
  "attached": "ok",
  "waiting": "busy",
  "attaching": "busy",
  "held": "warning",
  "not-ready": "failed",
};

function isSignState(state: string): state is SignState {
  return state in shapes;
}
