import type { Admission } from "../../admission/admission.ts";
import type { AdmissionRequest } from "../../admission/request.ts";
import type { JsonText } from "../../base/brand.ts";
import type { Clock } from "../../base/clock.ts";
import { LeveeError } from "../../base/errors.ts";
import { GivenUp } from "../../base/given-up.ts";
import { isSupportedVersion, newestVersion, versionWhenAbsent } from "../../cni/cni-version.ts";
import { asJsonText, memberText } from "../../cni/json-text.ts";
import { Hand } from "../../hands/hand.ts";
import { bytesField, encodeFrame, flagField, required, type Frame } from "../../wire/frame.ts";
import { encodeFinish, encodeWelcome, type CallHeader, type ResumeHeader } from "../../wire/messages.ts";
import type { CallChannel, CallOwner } from "../socket/server-connection.ts";

/** The shim has the same limit, so a larger configuration means a broken peer. */
const configBytesMax = 262_144;
const configMsMax = 5_000;
/** The most time that a call may claim: runtimes give up after four minutes. */
const budgetMsMax = 240_000;
/** A shim exits when its budget ends. One that stays longer than this is stuck, and must not hold its record for ever. */
const overtimeMs = 2_000;

export interface CallOptions {
  readonly connection: CallChannel;
  /** The protocol version that this shim and the daemon agreed on. */
  readonly version: number;
  readonly header: CallHeader;
  readonly clock: Clock;
  /** The operation's name in hex. A call that comes back after a lost daemon keeps its old one. */
  readonly token: string;
  readonly resumed: ResumeHeader | undefined;
}

interface AskedAdmission {
  readonly request: AdmissionRequest;
  readonly attempt: number;
}

/** One CNI call and its shim, from the first frame to BYE. */
export class Call implements CallOwner {
  readonly header: CallHeader;
  readonly hand: Hand;
  readonly token: string;
  readonly resumed: ResumeHeader | undefined;
  #asked: AskedAdmission | undefined;
  /** Set when the shim is gone, or when a DEL of the same container cancels this call. */
  readonly givenUp = new GivenUp();
  readonly #connection: CallChannel;
  readonly #clock: Clock;
  readonly #beganMs: number;
  readonly #endsMs: number;
  #answerVersion: string = newestVersion;
  #text: Promise<JsonText> | undefined;
  #config: Waiter<Uint8Array> | undefined;
  #acknowledgement: Waiter<boolean> | undefined;

  constructor(options: CallOptions) {
    const { connection, version, header, clock } = options;
    this.header = header;
    this.token = options.token;
    this.resumed = options.resumed;
    this.#connection = connection;
    this.#clock = clock;
    this.#beganMs = clock.monotonicMs();
    this.#endsMs = this.#beganMs + Math.min(header.budgetMs, budgetMsMax);
    this.hand = new Hand(connection, header.hand, { clock, version, isResident: false, cniPath: header.cniPath });
    connection.closeAtMs = this.#endsMs + overtimeMs;
    connection.handOver(this);
  }

  /** The CNI version that the runtime wants the answer in; the newest one until the configuration has arrived. */
  get answerVersion(): string {
    return this.#answerVersion;
  }

  /** Its admission request, and which consecutive attempt this is; undefined until it asks. */
  get asked(): AskedAdmission | undefined {
    return this.#asked;
  }

  /** Adds the time that is left to the admission request, keeps it for the log line, and returns it. */
  asks(wish: AdmissionRequest, admission: Pick<Admission, "failuresOf">): AdmissionRequest {
    const request = { ...wish, leftMs: this.remainingMs(), hand: this.hand };
    this.#asked = { request, attempt: (admission.failuresOf(request.pod)?.failures ?? 0) + 1 };
    return request;
  }

  /** An AbortSignal for APIs that need one. Code that only waits uses `givenUp`, which costs less memory. */
  get signal(): AbortSignal {
    return this.givenUp.signal;
  }

  /** `verb` and `cancel` make a call a holder of a container's turn. */
  get verb(): string {
    return this.header.verb;
  }

  cancel(reason: Error): void {
    this.givenUp.giveUp(reason);
  }

  ageMs(): number {
    return this.#clock.monotonicMs() - this.#beganMs;
  }

  /** The rest of the shim's budget. */
  remainingMs(): number {
    return this.#endsMs - this.#clock.monotonicMs();
  }

  welcome(heartbeatMs: number, software: string): void {
    this.#connection.send(encodeWelcome(Buffer.from(this.token, "hex"), heartbeatMs, software, this.hand.version));
  }

  /** Asks for the configuration. The shim keeps it until then, so that a waiting call costs little memory. */
  config(): Promise<JsonText> {
    return (this.#text ??= this.#askForConfig());
  }

  async #askForConfig(): Promise<JsonText> {
    if (this.header.configLength > configBytesMax) {
      throw new LeveeError(
        "config-invalid",
        `Cannot take a configuration of ${this.header.configLength} bytes: the limit is ${configBytesMax}`,
      );
    }
    // A shim that never sends its configuration would hold the call's slot.
    const cancel = this.#clock.after(configMsMax, () =>
      this.refuse(
        new LeveeError(
          "protocol-violated",
          `Cannot wait for the configuration any longer: the shim did not send it within ${configMsMax} ms`,
        ),
      ),
    );
    const bytes = await this.#await<Uint8Array>((waiter) => (this.#config = waiter), encodeFrame("GO", [])).finally(
      cancel,
    );
    const text = asJsonText(bytes, "the network configuration on stdin");
    const stated = memberText(text, "cniVersion");
    const cniVersion: unknown = stated === undefined ? versionWhenAbsent : JSON.parse(stated);
    if (typeof cniVersion === "string" && isSupportedVersion(cniVersion)) this.#answerVersion = cniVersion;
    return text;
  }

  /** An error is answered in the configuration's version, even when the call failed before it needed the configuration. */
  async learnVersion(): Promise<void> {
    if (this.#config !== undefined) return;
    try {
      await this.config();
    } catch {
      // An unreadable configuration has no version. The runtime gets the first error, not this one.
    }
  }

  /** Sends the answer. Resolves to whether the shim printed it for the runtime. */
  finish(exitCode: number, output: string): Promise<boolean> {
    return this.#await<boolean>((waiter) => (this.#acknowledgement = waiter), encodeFinish(exitCode, output));
  }

  bye(): void {
    this.#connection.endWith(encodeFrame("BYE", []));
  }

  /** Closes the connection without BYE. The shim then assumes a lost daemon, and comes back or leaves a record. */
  hangUp(): void {
    this.#connection.close();
  }

  refuse(error: LeveeError): void {
    this.#connection.refuse(error);
  }

  #await<T>(keep: (waiter: Waiter<T>) => void, frame: Uint8Array): Promise<T> {
    if (this.#connection.isClosed) return Promise.reject(this.#connection.closed.reason as Error);
    return new Promise<T>((resolve, reject) => {
      keep({ resolve, reject });
      this.#connection.send(frame);
    });
  }

  #announced(config: Uint8Array): Uint8Array {
    const { configLength } = this.header;
    if (config.length === configLength) return config;
    throw new LeveeError(
      "protocol-violated",
      `Cannot take a configuration of ${config.length} bytes: the shim announced ${configLength}`,
    );
  }

  /** The shim is gone. */
  left(reason: Error): void {
    this.#config?.reject(reason);
    this.#acknowledgement?.reject(reason);
    this.cancel(reason);
    this.hand.left();
  }

  take(frame: Frame): void {
    switch (frame.type) {
      case "OUTCOME":
        return this.hand.settle(frame);
      case "PROGRESS":
        return this.hand.progressed(frame);
      case "CONFIG":
        return settle(this.#config, this.#announced(required(bytesField(frame, "config"), frame, "config")), frame);
      case "ACK":
        return settle(this.#acknowledgement, flagField(frame, "printed"), frame);
      default:
        throw new LeveeError("protocol-violated", `Cannot take a ${frame.type} frame during a call`);
    }
  }
}

interface Waiter<T> {
  resolve(value: T): void;
  reject(reason: Error): void;
}

function settle<T>(waiter: Waiter<T> | undefined, value: T, frame: Frame): void {
  if (waiter === undefined)
    throw new LeveeError("protocol-violated", `Cannot take a ${frame.type} frame: the daemon did not ask for it`);
  waiter.resolve(value);
}
