// Rendered by `npm run deploy:render` from deploy/policies. Edit those files.

/** The admission policies as shipped. A policy in the cluster with another hash of its spec is another policy. */
export const shippedPolicies: readonly {
  readonly kind: string;
  readonly name: string;
  readonly specHash: string;
}[] = [
  {
    kind: "ValidatingAdmissionPolicy",
    name: "levee-approval-names-its-author",
    specHash: "6515d143ce0f573379f671f2999a12d39f4a2ae9dbd6b273e741b3fb06cac33b",
  },
  {
    kind: "ValidatingAdmissionPolicyBinding",
    name: "levee-approval-names-its-author",
    specHash: "843fb9ff4a0295953b656a0733fbef0a3641229d18fe47bae1d17a43330bc94e",
  },
  {
    kind: "ValidatingAdmissionPolicy",
    name: "levee-decisions-come-from-the-guard",
    specHash: "1a17ac67ac50e3fc277c38d0ad3c2737e59d618535ac886d2033503d6ac7f9d3",
  },
  {
    kind: "ValidatingAdmissionPolicyBinding",
    name: "levee-decisions-come-from-the-guard",
    specHash: "ec127f12bcd901ee07a3b1b09a5993cbd1b09e011fe57159a8fde31b036e5472",
  },
  {
    kind: "ValidatingAdmissionPolicy",
    name: "levee-guard-deletes-only-ownerless-pods",
    specHash: "74fcf32c5481ab8efcaf11260a0c3f6ad037ad0e2c7a3b06dc9cda243ef34452",
  },
  {
    kind: "ValidatingAdmissionPolicyBinding",
    name: "levee-guard-deletes-only-ownerless-pods",
    specHash: "2566269780221df89c96cbd5278f713bc9b1d22d88b95baca2208ddc44c20cd9",
  },
  {
    kind: "ValidatingAdmissionPolicy",
    name: "levee-guard-changes-memory-only",
    specHash: "beaa5e2331889a8a9b87bfe92fdb1d851ace1414128554124c4cf91c9e37afc9",
  },
  {
    kind: "ValidatingAdmissionPolicyBinding",
    name: "levee-guard-changes-memory-only",
    specHash: "7ffb557e1caf53168ae6b54d332700f3ae7428c0ad92624753b45b98553f876d",
  },
  {
    kind: "ValidatingAdmissionPolicy",
    name: "levee-guard-stops-sources-only",
    specHash: "ed612f59878193c72a6e7836b08422cf123022fd56eff923ae6302d0f8531268",
  },
  {
    kind: "ValidatingAdmissionPolicyBinding",
    name: "levee-guard-stops-sources-only",
    specHash: "00af5cbe603ee321dd8b813d8827e71519b63f6406e3481a1b97bdc156543b50",
  },
  {
    kind: "ValidatingAdmissionPolicy",
    name: "levee-guard-writes-nothing-else",
    specHash: "a4060351fd45ddb95f80262e69b849303beacd00866e21c5c25e5b39a84fbcb4",
  },
  {
    kind: "ValidatingAdmissionPolicyBinding",
    name: "levee-guard-writes-nothing-else",
    specHash: "fd14c630286c88be601b6b43e56cf6501c8ccba10644ac8949866f4fb1cf773d",
  },
  {
    kind: "ValidatingAdmissionPolicy",
    name: "levee-pods-need-a-controller-owner",
    specHash: "af697f631b7548f494ad58eaad1b564784e8cd03cdbe01e78c653aa10c9f31af",
  },
  {
    kind: "ValidatingAdmissionPolicyBinding",
    name: "levee-pods-need-a-controller-owner-warn",
    specHash: "2f27b34ba13f4e7373eac64c37ad0731c687f62f5ced3a14b57955123fcedee4",
  },
  {
    kind: "ValidatingAdmissionPolicyBinding",
    name: "levee-pods-need-a-controller-owner-deny",
    specHash: "9c838ec7ec5d05e3242cc26d89bec6f2df55e5988c8272f2dfc42e9d92bd7951",
  },
  {
    kind: "ValidatingAdmissionPolicy",
    name: "levee-daemon-speaks-for-its-node",
    specHash: "828d7857efb22bec6986dcbef67e66572be555e44cd87e506466e74fb3cdb80a",
  },
  {
    kind: "ValidatingAdmissionPolicyBinding",
    name: "levee-daemon-speaks-for-its-node",
    specHash: "f63adf5845887bbf898bf1977f2bd087747629ca6245c88f40cf110d51b3ff9e",
  },
];
