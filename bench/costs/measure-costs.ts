import { noteWarm } from '../commands.ts';
import type { Contender } from '../contender.ts';
import { measure } from '../load.ts';
import type { Operation } from '../operation.ts';
import { progress } from '../progress.ts';
import type { DynamoMeter } from './dynamo-meter.ts';
import { quantitiesOf } from './quantities.ts';
import type { Rows } from './report.ts';

export interface Meters {
  /** For the CPU. */
  readonly counted: Contender;
  /** The same service with recorded commands and metered DynamoDB. */
  readonly metered: Contender;
  readonly meter: DynamoMeter;
}

/** The AWS usage of one warm request per operation, with request counting. */
export const measureCosts = async (
  operations: readonly Operation[],
  { counted, metered, meter }: Meters,
  seconds: number,
): Promise<Rows> => {
  const rows: Record<string, Rows[string]> = {};
  for (const operation of operations) {
    progress(`costs: ${operation.name}`);
    const one = await noteWarm(operation, 'counted', metered, (commands) => ({ commands, ...meter.take() }));
    const load = async () => measure(counted, await operation.prepare('counted', counted, seconds), seconds);
    if (!operation.usesUp) await load();
    const { cpu } = await load();
    rows[operation.name] = quantitiesOf({ ...one, serverMicros: cpu.server ?? 0, engineMicros: cpu.engine ?? 0 });
  }
  return rows;
};
