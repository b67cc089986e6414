import type { ClaimReader } from "../../kube/claims/claim-reader.ts";
import type { ClaimView } from "../../view/claim-view.ts";

/** Claims are read by few nodes, so their reader is loaded with the first question. */
export class LateClaims implements ClaimView {
  readonly #options: ConstructorParameters<typeof ClaimReader>[0];
  #reader: Promise<ClaimReader> | undefined;

  constructor(options: ConstructorParameters<typeof ClaimReader>[0]) {
    this.#options = options;
  }

  async claim(...asked: Parameters<ClaimView["claim"]>): ReturnType<ClaimView["claim"]> {
    return await (await this.#open()).claim(...asked);
  }

  async published(...asked: Parameters<ClaimView["published"]>): ReturnType<ClaimView["published"]> {
    return await (await this.#open()).published(...asked);
  }

  async close(): Promise<void> {
    await (await this.#reader)?.close();
  }

  #open(): Promise<ClaimReader> {
    return (this.#reader ??= this.#load());
  }

  async #load(): Promise<ClaimReader> {
    const { ClaimReader: Reader } = await import("../../kube/claims/claim-reader.ts");
    return new Reader(this.#options);
  }
}
