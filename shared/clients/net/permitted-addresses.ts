/** Set by tests only, and by the local bootstrap on their behalf; never in a deployment. */
const permission = Symbol.for('basalt.permitted-addresses');

const permitted = (): readonly string[] => {
  const given: unknown = Reflect.get(globalThis, permission);
  return given instanceof Set ? [...given].map(String) : [];
};

/** Whether tests have permitted a restricted `address:port`; without a port, that of any port is enough. */
export const isPermitted = (address: string, port?: number): boolean =>
  permitted().some((entry) =>
    port === undefined ? entry.slice(0, entry.lastIndexOf(':')) === address : entry === `${address}:${port}`,
  );
