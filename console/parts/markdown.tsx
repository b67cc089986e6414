import type { JSX, VNode } from "preact";

/** Our own pages, which the server sends as Markdown: headings, lists, fences, tables as lines, `code` and **bold**. */
export function Markdown({ text }: { readonly text: string }): JSX.Element {
  return <div class="prose">{blocksOf(text).map((block) => blockNode(block))}</div>;
}

function blocksOf(text: string): readonly string[] {
  return text
    .split(/(```[\s\S]*?```)/u)
    .flatMap((part) => (part.startsWith("```") ? [part] : part.split(/\n{2,}/u)))
    .map((block) => block.trim())
    .filter((block) => block !== "");
}

function blockNode(block: string): VNode {
  if (block.startsWith("```")) return <pre tabIndex={0}>{block.replace(/^```\w*\n?|\n?```$/gu, "")}</pre>;
  const heading = /^#{1,6} (.*)/u.exec(block);
  if (heading !== null) return <Headed title={heading[1] ?? ""} rest={block.slice(heading[0].length).trim()} />;
  if (block.startsWith("|")) return <pre tabIndex={0}>{block}</pre>;
  if (/^(?:[-*]|\d+\.) /u.test(block)) return listNode(block);
  return <p>{inline(block)}</p>;
}

function Headed({ title, rest }: { readonly title: string; readonly rest: string }): JSX.Element {
  return (
    <>
      <h3>{inline(title)}</h3>
      {rest === "" ? null : blockNode(rest)}
    </>
  );
}

function listNode(block: string): VNode {
  const items = block.split(/\n(?=(?:[-*]|\d+\.) )/u).map((item) => item.replace(/^(?:[-*]|\d+\.) /u, ""));
  const entries = items.map((item) => <li>{inline(item)}</li>);
  return /^\d/u.test(block) ? <ol>{entries}</ol> : <ul>{entries}</ul>;
}

/** Links of our pages lead to files that are not here: their text is enough. */
function inline(text: string): readonly (VNode | string)[] {
  return text
    .replace(/\[([^\]]+)\]\([^)]+\)/gu, "$1")
    .split(/(`[^`]+`|\*\*[^*]+\*\*)/u)
    .map((part) => {
      if (part.startsWith("`")) return <code>{part.slice(1, -1)}</code>;
      return part.startsWith("**") ? <strong>{part.slice(2, -2)}</strong> : part;
    });
}
