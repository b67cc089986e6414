/** One event of a `text/event-stream`. */
export interface StreamEvent {
  readonly event: string;
  readonly id: string;
  readonly data: string;
}

/** A whole snapshot of 5,000 nodes has about 2 MB; a server that sends more without an end is not ours. */
const textCharsMax = 64 * 1024 * 1024;

/** Puts events together from parts of text. Comments and unknown fields give nothing, as the standard says. */
export class StreamParser {
  #rest = "";
  #event = "";
  #id = "";
  #data: string[] = [];

  push(text: string): readonly StreamEvent[] {
    this.#rest += text;
    if (this.#rest.length > textCharsMax) throw new Error("the server sent an event without an end");
    const lines = this.#rest.split(/\r\n|\n|\r(?!$)/u);
    this.#rest = lines.pop() ?? "";
    return lines.flatMap((line) => this.#line(line));
  }

  #line(line: string): readonly StreamEvent[] {
    if (line === "") return this.#end();
    const colon = line.indexOf(":");
    const field = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? "" : line.slice(colon + 1).replace(/^ /u, "");
    if (field === "event") this.#event = value;
    if (field === "id") this.#id = value;
    if (field === "data") this.#data.push(value);
    return [];
  }

  #end(): readonly StreamEvent[] {
    const found = { event: this.#event === "" ? "message" : this.#event, id: this.#id, data: this.#data.join("\n") };
    this.#event = "";
    this.#data = [];
    return found.data === "" ? [] : [found];
  }
}
