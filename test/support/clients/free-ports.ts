import { probePort } from '../../../infra/local/ports.ts';

/** What `npm start` takes or prefers: its own port and the ten after it. */
const block = 11;
const [least, blocks] = [20_000, 996];
/** As many as may run at the same time. */
const workers = 4;

/** Blocks that this file has drawn: their ports may not be taken yet. */
const given = new Set<number>();

const isFree = (port: number): Promise<boolean> =>
  probePort(port).then(
    () => true,
    () => false,
  );

/**
 * A port that is free with the ten after it: below those that outgoing connections take, so that they stay free over
 * a restart, in blocks that no other worker of this run takes, and never the same one twice.
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
