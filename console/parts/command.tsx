import type { JSX } from "preact";
import { useRef, useState } from "preact/hooks";
import { pageClock } from "../base/clock.ts";

/** A line for a terminal, with a button that copies it. */
export function Command({ line }: { readonly line: string }): JSX.Element {
  const text = useRef<HTMLElement>(null);
  const [said, say] = useState("");
  const copy = async (): Promise<void> => {
    say((await copied(line, text.current)) ? "Copied" : "Selected");
    pageClock.after(2_000, () => say(""));
  };
  return (
    <div class="command">
      <code ref={text} tabIndex={0} role="textbox" aria-readonly="true" aria-label="Command">
        {line}
      </code>
      <button type="button" class="plain" onClick={() => void copy()} aria-label={`Copy: ${line}`}>
        {said === "" ? "Copy" : said}
      </button>
    </div>
  );
}

/** Without a secure context a page may not write to the clipboard; the line is selected instead. */
async function copied(line: string, place: HTMLElement | null): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(line);
    return true;
  } catch {
    if (place !== null) getSelection()?.selectAllChildren(place);
    return false;
  }
}
