import { probePort } from '../../../infra/local/ports.ts';

/** `npm start` uses its port and the ten after it. */
const block = 11;
const [least, blocks] = [20_000, 996];
/** Maximum number that run at the same time. */
const workers = 4;

/** Blocks that were returned; their ports may not be in use yet. */
const given = new Set<number>();

const isFree = (port: number): Promise<boolean> =>
  probePort(port).then(
    () => true,
    () => false,
  );

/**
 * Returns a port that is free with the ten after it. It is below the range of outgoing connections, so that it stays
 * free over a restart, in a block that no other worker uses, and it is never returned twice.
 */
export const freePorts = async (): Promise<number> => {
  const worker = Number(process.env.VITEST_POOL_ID ?? 0) % workers;
  const drawn = workers * Math.floor((Math.random() * blocks) / workers) + worker;
  const first = least + block * drawn;
  if (given.has(first)) return freePorts();
  given.add(first);
  const free = await Promise.all(Array.from({ length: block }, (_, place) => isFree(first + place)));
  return free.every(Boolean) ? first : freePorts();
};
