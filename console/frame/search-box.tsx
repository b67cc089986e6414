import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { linkTo } from "../base/route.ts";

/** Leads from any part of a name to the pod, network or node. The key `/` puts the cursor into it. */
export function SearchBox(): JSX.Element {
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.key !== "/" || isTyping(event.target)) return;
      event.preventDefault();
      input.current?.focus();
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, []);
  return (
    <form
      class="search"
      role="search"
      onSubmit={(event) => {
        event.preventDefault();
        const text = input.current?.value.trim() ?? "";
        location.hash = text === "" ? linkTo("find") : linkTo("find", "match", text);
      }}
    >
      <label class="unseen" for="search">
        Pod, network or node
      </label>
      <input
        ref={input}
        id="search"
        type="search"
        placeholder="Pod, network or node"
        autocomplete="off"
        spellcheck={false}
        maxLength={520}
      />
    </form>
  );
}

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement && (target.isContentEditable || /^(?:INPUT|TEXTAREA|SELECT)$/u.test(target.tagName))
  );
}
