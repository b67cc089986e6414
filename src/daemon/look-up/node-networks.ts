/**
 * The node's own networks under one name: which they are stands in the configuration, and the shim keeps that until
 * the call has its slot.
 */
export const nodeNetworks = "(node)";
