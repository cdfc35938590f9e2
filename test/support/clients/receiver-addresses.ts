import { randomInt } from 'node:crypto';

const port = 7400;

/** Maximum number of webhook receivers at the same time. */
const count = 60;

/** Loopback addresses that other programs rarely use, so that a service can permit receivers before it starts. */
export const receiverAddresses = (): readonly string[] => {
  const net = `127.${randomInt(1, 255)}.${randomInt(0, 256)}`;
  return Array.from({ length: count }, (_, at) => `${net}.${at + 1}:${port}`);
};

/** The addresses that a service permits. */
export const receiversAmong = (permitted = ''): readonly string[] =>
  permitted.split(',').filter((address) => address.endsWith(`:${port}`));
