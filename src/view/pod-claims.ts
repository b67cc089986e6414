/** The ResourceClaims of a pod. Few pods have any, so the field is absent in all others. */
export interface PodClaims {
  readonly refs: readonly ClaimRef[];
  /** The claim behind its extended resources, where the scheduler took them from a DRA driver. */
  readonly extended?: ExtendedClaim;
}

export interface ClaimRef {
  /** The name in the pod's spec. */
  readonly name: string;
  /** The ResourceClaim in the pod's namespace. */
  readonly claim: string;
  /** The pod's status names it, as it does with claims made from a template. Multus sees only those. */
  readonly isInStatus: boolean;
}

export interface ExtendedClaim {
  readonly claim: string;
  readonly mappings: readonly { readonly resourceName: string; readonly request: string }[];
}

export function sameClaims(left: PodClaims | undefined, right: PodClaims | undefined): boolean {
  return left === right || JSON.stringify(left) === JSON.stringify(right);
}
