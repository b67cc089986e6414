import { signal } from "@preact/signals";
import type { ComponentChildren, JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type { ConsoleTopic } from "../../src/wire/console-story.ts";
import { problemFrom } from "../stream/server.ts";
import { server } from "../stream/store.ts";
import { Command } from "./command.tsx";
import { Markdown } from "./markdown.tsx";
import { meanings, type MeaningName } from "./meanings.ts";

/** What the panel shows: a number of this page, or a code that `levee explain` knows. */
interface Shown {
  readonly title: string;
  readonly command: string;
  readonly body: ComponentChildren;
}

const shown = signal<Shown | undefined>(undefined);

function explainNumber(name: MeaningName, subject = ""): void {
  const { title, text, command } = meanings[name];
  const line = subject === "" ? command : command.replace(/\bNAME\b/u, subject);
  shown.value = { title, command: line, body: <p>{text}</p> };
}

async function explainCode(code: string): Promise<void> {
  const command = `levee explain ${code}`;
  shown.value = { title: code, command, body: <p>Looking it up…</p> };
  try {
    const topic = await server.get<ConsoleTopic>(`explain/${encodeURIComponent(code)}`);
    shown.value = { title: topic.name, command, body: <Topic {...topic} /> };
  } catch (thrown) {
    shown.value = { title: code, command, body: <p>{problemFrom(thrown).message}</p> };
  }
}

function Topic({ title, text }: ConsoleTopic): JSX.Element {
  return (
    <>
      <p class="quiet">{title}</p>
      <Markdown text={text} />
    </>
  );
}

/** A number that says what it means when it is pressed. */
export function Figure(props: {
  readonly of: MeaningName;
  readonly subject?: string;
  readonly children: ComponentChildren;
}): JSX.Element {
  const { of, subject = "", children } = props;
  return (
    <button
      type="button"
      class="figure"
      title={`What is this? ${meanings[of].title}`}
      onClick={() => explainNumber(of, subject)}
    >
      {children}
    </button>
  );
}

/** A code such as `FiringAlert` or `Proposed`, explained by the server. */
export function Code({ code }: { readonly code: string }): JSX.Element {
  return (
    <button type="button" class="figure code" title={`levee explain ${code}`} onClick={() => void explainCode(code)}>
      {code}
    </button>
  );
}

/** The one panel of the page. */
export function ExplainPanel(): JSX.Element {
  const place = useRef<HTMLDialogElement>(null);
  const { value } = shown;
  useEffect(() => {
    if (value !== undefined && place.current?.open === false) place.current.showModal();
  }, [value]);
  const close = (): void => place.current?.close();
  return (
    <dialog
      ref={place}
      class="panel"
      aria-labelledby="panel-title"
      onClose={() => {
        shown.value = undefined;
      }}
      onClick={(event) => {
        if (event.target === place.current) close();
      }}
    >
      {value === undefined ? null : (
        <div class="panel-body">
          <header>
            <h2 id="panel-title">{value.title}</h2>
            <button type="button" class="plain" onClick={close}>
              Close
            </button>
          </header>
          {value.body}
          <h3>The command that shows the same</h3>
          <Command line={value.command} />
        </div>
      )}
    </dialog>
  );
}
