/** Of thousands of networks one GC reaches as many as its time allows; the next one goes on where it stopped. */
export class GcRota {
  #first: string | undefined;

  stopBefore(key: string): void {
    this.#first = key;
  }

  order<T extends { readonly key: string }>(networks: readonly T[]): readonly T[] {
    const at = Math.max(
      0,
      networks.findIndex(({ key }) => key === this.#first),
    );
    this.#first = undefined;
    return [...networks.slice(at), ...networks.slice(0, at)];
  }
}
