/** The page that `npm run build` bundles from console/, by the names under which it is served. */
export interface EmbeddedPage {
  readonly html: string;
  readonly script: string;
  readonly style: string;
  readonly icon: string;
}

/** Loaded late: no other command needs it, and tests of them run without a build. */
export async function embeddedPage(): Promise<EmbeddedPage> {
  const { default: text } = await import("../../dist/console/page.json.txt");
  return JSON.parse(text) as EmbeddedPage; // as scripts/build/console-page.ts wrote it
}
