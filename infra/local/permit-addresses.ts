/**
 * Lets this process connect to these restricted addresses, a list of `address:port`, where a customer names them:
 * databases and storages of tests are on loopback. Nothing that is deployed does this.
 */
export const permitAddresses = (list = ''): void => {
  Reflect.set(globalThis, Symbol.for('basalt.permitted-addresses'), new Set(list.split(',').filter(Boolean)));
};
