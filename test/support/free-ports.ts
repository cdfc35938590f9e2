import { probePort } from '../../infra/local/ports.ts';

/** What `npm start` takes or prefers: its own port and the seven after it. */
const block = 8;
const [least, blocks] = [20_000, 1375];

const isFree = (port: number): Promise<boolean> =>
  probePort(port).then(
    () => true,
    () => false,
  );

/**
 * A port that is free with the seven after it: below those that outgoing connections take, so that they stay free over a
 * restart, and in blocks that no other worker of this run takes.
 */
export const freePorts = async (): Promise<number> => {
  const worker = Number(process.env.VITEST_POOL_ID ?? 0) % 2;
  const drawn = 2 * Math.floor((Math.random() * blocks) / 2) + worker;
  const first = least + block * drawn;
  const free = await Promise.all(Array.from({ length: block }, (_, place) => isFree(first + place)));
  return free.every(Boolean) ? first : freePorts();
};
