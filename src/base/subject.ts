/** The pod and the call that an entry of the timeline is about. */
export interface Subject {
  readonly namespace: string;
  readonly name: string;
  readonly containerId: string;
  readonly verb: string;
}
