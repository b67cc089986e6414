import { oneLine } from "../../base/plain-text.ts";
import { CommandFailure } from "../failure.ts";
import type { Shell } from "../shell.ts";
import { fetchSource, type FetchedSource, type SourceOptions } from "./fetch-source.ts";
import { headerOf, keepSources, readKept } from "./keep-file.ts";
import { readVendorLock, type VendoredFile } from "./vendor-lock.ts";

interface AddOrder extends SourceOptions {
  readonly root: string;
  readonly path: string;
  readonly address: string;
}

/** What happened to one vendored file. */
export interface VendorChange extends VendoredFile {
  readonly result: "added" | "adopted" | "unchanged" | "bumped";
  readonly objects: number;
}

/** Fetches a file of others and keeps it. One that is there already is adopted if only its header differs. */
export async function addFile(shell: Shell, order: AddOrder): Promise<VendorChange> {
  const { root, path, address } = order;
  const kept = await readKept(root, path);
  const locked = (await readVendorLock(root)).find((file) => file.path === path);
  const source = await fetchSource(shell, address, order);
  if (locked !== undefined && (locked.url !== source.url || locked.sha256 !== source.sha256))
    throw lockedAs(locked, source);
  const header = kept === undefined ? "" : headerOf(kept, source);
  if (header === undefined) throw differs(path, new TextDecoder().decode(kept), source);
  await keepSources(root, [{ path, source, header }]);
  const adopted = locked === undefined ? "adopted" : "unchanged";
  return changeOf(path, source, kept === undefined ? "added" : adopted);
}

export function changeOf(path: string, source: FetchedSource, result: VendorChange["result"]): VendorChange {
  const { url, sha256, bytes, images, objects } = source;
  return { path, result, url, sha256, bytes, objects, images };
}

function lockedAs(locked: VendoredFile, source: FetchedSource): CommandFailure {
  const isMoved = locked.url === source.url;
  const why = isMoved
    ? `its bytes changed under one address: ${locked.sha256} is locked, ${source.sha256} came`
    : `it is locked from ${locked.url}`;
  return new CommandFailure("vendor-locked", `Cannot add ${locked.path}: ${why}`, {
    remedy: isMoved
      ? "ask its authors why; if you accept the new bytes, remove the entry from the lock file and add it again"
      : `levee vendor bump ${locked.path} --url URL`,
  });
}

/** Someone changed the file after fetching it, or fetched another version. The first difference tells which. */
function differs(path: string, kept: string, source: FetchedSource): CommandFailure {
  const here = numberedLines(kept);
  const theirs = numberedLines(new TextDecoder().decode(source.content));
  const at = here.findIndex(({ text }, index) => text !== theirs[index]?.text);
  const [mine, other] = [here[at] ?? here.at(-1), theirs[at]];
  return new CommandFailure(
    "vendor-changed",
    `Cannot adopt ${path}: it differs from ${source.url} in more than its header`,
    {
      details: [
        `here, line ${mine?.number ?? 0}: ${oneLine(mine?.text ?? "").slice(0, 160)}`,
        other === undefined
          ? "there: nothing more"
          : `there, line ${other.number}: ${oneLine(other.text).slice(0, 160)}`,
      ].join("\n"),
      remedy: `put your changes into a kustomization beside it, then: git rm ${path}, and add it again`,
    },
  );
}

/** From the first line that is no comment: before it a header may differ. */
function numberedLines(text: string): readonly { readonly number: number; readonly text: string }[] {
  const lines = text.split("\n").map((line, index) => ({ number: index + 1, text: line }));
  const first = lines.findIndex((line) => !/^\s*(?:#.*)?$/u.test(line.text));
  return first === -1 ? [] : lines.slice(first);
}
