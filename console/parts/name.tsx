import type { JSX } from "preact";

/** A name or a text that tenants chose: text, never markup, and its direction stays its own. */
export function Name({ text }: { readonly text: string }): JSX.Element {
  return (
    <bdi class="name" title={text.length > 40 ? text : undefined}>
      {text}
    </bdi>
  );
}
