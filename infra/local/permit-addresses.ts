const permission = Symbol.for('basalt.permitted-addresses');

/**
 * Allows this process to connect to these addresses (`address:port`, comma-separated) when customers name them, although
 * they are restricted. For webhook receivers, databases and storages on this machine; never used when deployed.
 */
export const permitAddresses = (list = ''): void => {
  Reflect.set(globalThis, permission, new Set(list.split(',').filter(Boolean)));
};

/** Allows one more address. */
export const permitAddress = (address: string): void => {
  const permitted: unknown = Reflect.get(globalThis, permission);
  Reflect.set(globalThis, permission, new Set([...(permitted instanceof Set ? permitted : []), address]));
};

const isLoopback = ({ hostname }: URL): boolean => /^(127(\.\d+){3}|\[::1\]|([a-z0-9-]+\.)*localhost)$/.test(hostname);

const urlOf = (input: string | URL | Request): URL => new URL(input instanceof Request ? input.url : input);

/**
 * Makes `fetch` reject all hosts except this machine, so that neither the local service nor a test reaches a real
 * provider. `permittedUrl` is an address that the user has configured.
 */
export const blockExternalFetch = (permittedUrl?: string): void => {
  const { fetch } = globalThis;
  const permitted = permittedUrl && URL.canParse(permittedUrl) ? new URL(permittedUrl).origin : undefined;
  globalThis.fetch = async (input, init) => {
    const url = urlOf(input);
    if (!isLoopback(url) && url.origin !== permitted) {
      throw new Error(`${url.origin} was not called, because the local service only calls this machine`);
    }
    return fetch(input, init);
  };
};
