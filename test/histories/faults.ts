import { setTimeout as pause } from 'node:timers/promises';
import type { FaultyService } from '../support/faults/faulty-service.ts';
import { pick, type Random } from './random.ts';
import type { Service } from './service.ts';

/** A fault of one database. It is over when its promise resolves. */
type Fault = (database: FaultyService, random: Random) => Promise<void>;

const longestMs = 3000;

/** Affects requests until the time is over, then ends the fault. */
const during = async (database: FaultyService, random: Random): Promise<void> => {
  await pause(200 + random(longestMs));
  await database.heal();
};

const faults: Readonly<Record<string, Fault>> = {
  stop: async (database, random) => {
    await database.freeze();
    await during(database, random);
  },
  crash: async (database) => {
    await database.kill();
    await database.restart();
  },
  lose: (database, random) => {
    database.proxy.meet('lose the answer', { after: random(20), times: 1 + random(20) });
    return during(database, random);
  },
  blip: (database, random) => {
    database.proxy.meet('cut', { after: random(20), times: 1 + random(40) });
    return during(database, random);
  },
  late: (database, random) => {
    database.proxy.meet('late', { after: random(20), times: 1 + random(10) });
    return during(database, random);
  },
  hang: (database, random) => {
    database.proxy.hang();
    return during(database, random);
  },
  slow: (database, random) => {
    database.proxy.meet('delay', { after: random(20), times: 1 + random(20) });
    return during(database, random);
  },
};

export const faultNames: readonly string[] = [...Object.keys(faults), 'kill the service'];

/**
 * Causes faults one after the other, with quiet times in between, until `isOver`. Returns how often each occurred.
 * Only MongoDB crashes: the local DynamoDB then forgets the tokens of transactions, which DynamoDB keeps for 10
 * minutes. A retry of a transaction whose response was lost would be refused.
 */
export const causeFaults = async (
  service: Service,
  random: Random,
  isOver: () => boolean,
): Promise<Readonly<Record<string, number>>> => {
  const counts: Record<string, number> = {};
  for (;;) {
    await pause(500 + random(longestMs));
    if (isOver()) return counts;
    const name = pick(random, faultNames);
    counts[name] = (counts[name] ?? 0) + 1;
    const database = pick(random, name === 'crash' ? [service.mongo] : [service.mongo, service.dynamo]);
    await (faults[name]?.(database, random) ?? service.killService());
  }
};
