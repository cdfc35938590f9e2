const permission = Symbol.for('basalt.permitted-addresses');

/**
 * Lets this process connect to these restricted addresses, a list of `address:port`, where a customer names them:
 * receivers of webhooks on a laptop, databases and storages of tests. Nothing that is deployed does this.
 */
export const permitAddresses = (list = ''): void => {
  Reflect.set(globalThis, permission, new Set(list.split(',').filter(Boolean)));
};

/** Lets it connect to one more: what stands for a provider on this machine. */
export const permitToo = (address: string): void => {
  const permitted: unknown = Reflect.get(globalThis, permission);
  Reflect.set(globalThis, permission, new Set([...(permitted instanceof Set ? permitted : []), address]));
};
