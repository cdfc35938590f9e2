import type { MongoClientOptions } from 'mongodb';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { Hit, StepFault } from '../support/faults/step-faults.ts';
import { accountOperations } from '../support/fixtures/operations/accounts.ts';
import { dataOperations } from '../support/fixtures/operations/data.ts';
import { fileOperations } from '../support/fixtures/operations/files.ts';
import { mailOperations } from '../support/fixtures/operations/mails.ts';
import type { Operation } from '../support/fixtures/operations/operation.ts';
import { openWorld, type World } from '../support/fixtures/operations/world.ts';
import { recountAll, recountProject } from '../support/fixtures/recount.ts';

// The ids of a process only increase. These tests move the clock by hours and back, so ids use the machine’s time.
// Otherwise the next documents would seem to be hours newer.
vi.mock('../../shared/core/ids.ts', async (original) => {
  const module = await original<typeof import('../../shared/core/ids.ts')>();
  return { ...module, newId: module.idSource(() => Date.now()) };
});

/** How long the driver waits for a server. */
const driver = vi.hoisted(() => ({ patienceMs: 5000 }));

// A system that fails stays down until the operation ends. With the default, each command would wait 5 s for it.
vi.mock('mongodb', async (original) => {
  const module = await original<typeof import('mongodb')>();
  class MongoClient extends module.MongoClient {
    constructor(uri: string, options?: MongoClientOptions) {
      super(uri, { ...options, serverSelectionTimeoutMS: driver.patienceMs });
    }
  }
  return { ...module, MongoClient };
});

let world: World;
const injected = new Map<StepFault, number>();
const steps = new Set<string>();
/** How many commands of an operation change something. */
const changes = new Map<Operation, number>();

beforeAll(async () => {
  world = await openWorld();
});

afterAll(async () => {
  const total = [...injected.values()].reduce((sum, count) => sum + count, 0);
  const kinds = [...injected].map(([fault, count]) => `${count} ${fault}`).join(', ');
  process.stdout.write(`faults injected: ${total} (${kinds}) at ${steps.size} different steps\n`);
  await world.close();
});

/** How an operation is interrupted, and whether its caller retries it afterwards. */
const faults: readonly { readonly fault: StepFault; readonly changesOnly: boolean; readonly comesBack: boolean }[] = [
  { fault: 'stop', changesOnly: false, comesBack: true },
  { fault: 'crash', changesOnly: true, comesBack: false },
  { fault: 'lose', changesOnly: true, comesBack: true },
  { fault: 'blip', changesOnly: true, comesBack: true },
  { fault: 'late', changesOnly: true, comesBack: false },
  { fault: 'hang', changesOnly: true, comesBack: true },
  { fault: 'slow', changesOnly: true, comesBack: true },
];

const longestMs = 60_000;

/**
 * A run meets these faults at every second step, two of them at the even steps and two at the odd ones. With
 * `EVERY_STEP=1` it meets each of them at every step, which takes about eight minutes more.
 */
const shared: readonly StepFault[] = ['stop', 'lose', 'blip', 'late'];
const stride = process.env.EVERY_STEP ? 1 : 2;

/** These faults take seconds, so each operation meets them only at one of its changes. */
const costly: ReadonlySet<StepFault> = new Set(['hang', 'slow']);

const interrupt = async (
  operation: Operation,
  { fault, changesOnly, comesBack }: (typeof faults)[number],
  at: number,
): Promise<{ readonly hit: Hit | undefined; readonly problem: string | undefined }> => {
  const prepared = await operation.prepare(world);
  await world.disconnect();
  world.faults.arm({ fault, at, changesOnly });
  driver.patienceMs = 1000;
  const begin = performance.now();
  let status: number | undefined;
  let problem: unknown;
  try {
    status = await prepared.act();
  } catch (error) {
    problem = error;
  }
  const ms = performance.now() - begin;
  driver.patienceMs = 5000;
  const hit = await world.faults.heal();
  await world.disconnect();
  if (!hit) return { hit, problem: undefined };
  try {
    if (problem !== undefined) throw problem;
    expect(ms).toBeLessThan(longestMs);
    const isDone = status !== undefined && status < 300;
    if (!isDone) expect([503, ...(operation.refusals ?? [])]).toContain(status);
    const sentAgain = !isDone && comesBack && prepared.again !== undefined;
    if (sentAgain) await prepared.again?.();
    await world.sweep(prepared.later);
    for (const id of prepared.projectIds) {
      const complaints = await recountProject(world.at, id, true);
      if (complaints.length > 0) throw new Error(complaints.join('; '));
    }
    await prepared.verify(isDone || sentAgain);
    return { hit, problem: undefined };
  } catch (error) {
    return { hit, problem: error instanceof Error ? error.message : String(error) };
  }
};

const operations = [...accountOperations, ...fileOperations, ...mailOperations, ...dataOperations];

describe.each(operations)('$name', (operation) => {
  const met = faults.filter(({ fault }) => operation.faults?.includes(fault) ?? true);
  test.each(met)('is complete or has no effect when it meets: $fault', async (kind) => {
    const { fault } = kind;
    const problems: string[] = [];
    const turn = operations.indexOf(operation) + (fault === 'slow' ? 1 : 0);
    const isShared = shared.includes(fault);
    const offset = isShared ? shared.indexOf(fault) % stride : 0;
    const first = costly.has(fault) ? turn % (changes.get(operation) ?? 1) : offset;
    for (let at = first; !costly.has(fault) || at === first; at += isShared ? stride : 1) {
      const { hit, problem } = await interrupt(operation, kind, at);
      if (!hit) break;
      injected.set(fault, (injected.get(fault) ?? 0) + 1);
      if (fault === 'late') changes.set(operation, at + 1);
      steps.add(`${operation.name} ${hit.system} ${hit.name}`);
      if (problem !== undefined) problems.push(`${fault} at ${at}, ${hit.system} ${hit.name}: ${problem}`);
    }
    expect(problems.join('\n')).toBe('');
  });
});

test('all counters of the deployment are correct after all these faults', async () => {
  await world.sweep();
  expect(await recountAll(world.at, true)).toEqual([]);
});
