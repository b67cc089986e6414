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
import type { ConnectionOwner, ServerConnection } from "../socket/server-connection.ts";

/** What the runtime gave the shim is bounded there too; a larger one means a broken peer. */
const configBytesMax = 262_144;
const configMsMax = 5_000;
/** No call may claim more than this, whatever its shim says: runtimes give up after four minutes. */
const budgetMsMax = 240_000;
/** A shim ends by itself when its budget does. One that has not by then is stuck, and must not hold its record for ever. */
const overtimeMs = 2_000;

export interface CallOptions {
  readonly connection: ServerConnection;
  /** Of the protocol, as agreed with this shim. */
  readonly version: number;
  readonly header: CallHeader;
  readonly clock: Clock;
  /** Hex name of the operation: new, or the old one when a lost call comes back. */
  readonly token: string;
  readonly resumed: ResumeHeader | undefined;
}

interface AskedAdmission {
  readonly request: AdmissionRequest;
  readonly attempt: number;
}

/** One CNI call and the shim that makes it, from its first frame to BYE. */
export class Call implements ConnectionOwner {
  readonly header: CallHeader;
  readonly hand: Hand;
  readonly token: string;
  readonly resumed: ResumeHeader | undefined;
  #asked: AskedAdmission | undefined;
  /** When the shim is gone, or a DEL of the same container ends this call. */
  readonly givenUp = new GivenUp();
  readonly #connection: ServerConnection;
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

  /** The CNI version in which the runtime wants its answer; the newest until its configuration is here. */
  get answerVersion(): string {
    return this.#answerVersion;
  }

  /** Its admission request, and which consecutive attempt this is; undefined until it asks. */
  get asked(): AskedAdmission | undefined {
    return this.#asked;
  }

  /** Keeps what the call asks admission for, for the line in the log; returns the same. */
  asks(request: AdmissionRequest, admission: Pick<Admission, "failuresOf">): AdmissionRequest {
    this.#asked = { request, attempt: (admission.failuresOf(request.pod)?.failures ?? 0) + 1 };
    return request;
  }

  /** A real signal; code that only waits looks at `givenUp`. */
  get signal(): AbortSignal {
    return this.givenUp.signal;
  }

  /** With `cancel` it can hold a container's turn. */
  get verb(): string {
    return this.header.verb;
  }

  cancel(reason: Error): void {
    this.givenUp.giveUp(reason);
  }

  ageMs(): number {
    return this.#clock.monotonicMs() - this.#beganMs;
  }

  /** What is left of the shim's whole budget. */
  remainingMs(): number {
    return this.#endsMs - this.#clock.monotonicMs();
  }

  welcome(heartbeatMs: number, software: string): void {
    this.#connection.send(encodeWelcome(Buffer.from(this.token, "hex"), heartbeatMs, software, this.hand.version));
  }

  /** Asks for the configuration, which the shim keeps until the call's turn has come. */
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
    // A shim that has its configuration in memory and does not send it would hold the call's slot.
    const cancel = this.#clock.after(configMsMax, () =>
      this.refuse(new LeveeError("protocol-violated", `The configuration did not come within ${configMsMax} ms`)),
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

  /** For an error from before the configuration was needed: its answer bears the configuration's version all the same. */
  async learnVersion(): Promise<void> {
    if (this.#config !== undefined) return;
    try {
      await this.config();
    } catch {
      // A configuration that cannot be read has no version to answer in; the error to be told is another one.
    }
  }

  /** Hands over the answer. Resolves to whether the runtime has got it. */
  finish(exitCode: number, output: string): Promise<boolean> {
    return this.#await<boolean>((waiter) => (this.#acknowledgement = waiter), encodeFinish(exitCode, output));
  }

  bye(): void {
    this.#connection.endWith(encodeFrame("BYE", []));
  }

  /** Ends without a word; the shim takes that for a lost daemon and comes back, or leaves a note. */
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
      `Cannot take a configuration of ${config.length} bytes as ${configLength} were announced`,
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
        throw new LeveeError("protocol-violated", `Cannot take a ${frame.type} frame in the middle of a call`);
    }
  }
}

interface Waiter<T> {
  resolve(value: T): void;
  reject(reason: Error): void;
}

function settle<T>(waiter: Waiter<T> | undefined, value: T, frame: Frame): void {
  if (waiter === undefined)
    throw new LeveeError("protocol-violated", `Cannot take a ${frame.type} frame nobody asked for`);
  waiter.resolve(value);
}
