const isLoopback = ({ hostname }: URL): boolean => /^(127(\.\d+){3}|\[::1\]|([a-z0-9-]+\.)*localhost)$/.test(hostname);

const urlOf = (input: string | URL | Request): URL => new URL(input instanceof Request ? input.url : input);

/**
 * Makes `fetch` in this process refuse every host but this machine, so that neither the local service nor a test ever
 * reaches a real provider. `chosen` is an address that the user has configured explicitly.
 */
export const refuseOutsideHosts = (chosen?: string): void => {
  const { fetch } = globalThis;
  const permitted = chosen && URL.canParse(chosen) ? new URL(chosen).origin : undefined;
  globalThis.fetch = async (input, init) => {
    const url = urlOf(input);
    if (!isLoopback(url) && url.origin !== permitted) {
      throw new Error(`${url.origin} was not called: Basalt on this machine calls no other one`);
    }
    return fetch(input, init);
  };
};
