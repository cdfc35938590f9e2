import { randomInt } from 'node:crypto';

const port = 7400;

/** How many receivers of webhooks there can be at once. */
const count = 60;

/**
 * Addresses on loopback of which hardly another program has one, so that a stack can be told before it starts that
 * receivers of webhooks may be there.
 */
export const receiverAddresses = (): readonly string[] => {
  const net = `127.${randomInt(1, 255)}.${randomInt(0, 256)}`;
  return Array.from({ length: count }, (_, at) => `${net}.${at + 1}:${port}`);
};

/** Those among the addresses that a stack permits. */
export const receiversAmong = (permitted = ''): readonly string[] =>
  permitted.split(',').filter((address) => address.endsWith(`:${port}`));
