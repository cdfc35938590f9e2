import assert from 'node:assert/strict';
import fc from 'fast-check';
import { clock } from '../../shared/core/clock.ts';
import { AppError } from '../../shared/core/errors.ts';
import { acquireKey, keyedRequest, noteFailure, recordResponse } from '../../shared/persistence/idempotency.ts';
import { itemKey, partitionKey } from '../../shared/persistence/item-keys.ts';
import { type Lock, withLock } from '../../shared/persistence/lease.ts';
import { write } from '../../shared/persistence/table.ts';
import * as kinds from '../../shared/persistence/table-keys.ts';
import { model, times } from './model.ts';
import { valuesOf, type World } from './world.ts';

const projectId = 'a'.repeat(24);
const request = (body: string) => keyedRequest('caller', 'key', [body]);

/** At most one living actor is between `enter` and `leave`. */
export const exclusive = (world: World) => {
  let inside: (() => boolean) | undefined;
  return {
    enter: () => {
      assert.ok(!inside?.(), 'Two runs work at the same time');
      inside = world.aliveness();
    },
    leave: () => {
      inside = undefined;
    },
  };
};

const callers = fc.array(fc.constantFrom('succeeds', 'succeeds', 'fails', 'other body'), {
  minLength: 2,
  maxLength: 5,
});

/** One request from several clients. A run has an effect; then its response is stored, or nothing was done. */
const keyModel = (name: string, canRepeat: boolean) =>
  model(name, callers, async (world, all) => {
    const { enter, leave } = exclusive(world);
    const effects: string[] = [];
    let isStored = false;
    const results = all.map((kind) =>
      world.actor(async () => {
        const state = await acquireKey(projectId, request(kind === 'other body' ? '2' : '1'), canRepeat);
        if (state.kind === 'answered') return state.answer.body;
        if (state.kind !== 'acquired') return undefined;
        enter();
        const { run } = state;
        await world.sleep(1000);
        leave();
        if (kind === 'fails') await noteFailure(run, { nothingDone: true });
        else {
          effects.push(run.seed);
          await recordResponse(run, { status: 200, headers: '{}', body: run.seed });
          isStored = true;
        }
        return kind === 'fails' ? undefined : run.seed;
      }),
    );
    await world.finish();
    assert.ok((canRepeat ? new Set(effects).size : effects.length) <= 1, 'One request has two effects');
    const bodies = new Set(valuesOf(results).filter((body) => body !== undefined));
    assert.ok(bodies.size <= 1, 'One request has two responses');
    const { kind } = await acquireKey(projectId, request('1'), canRepeat);
    if (isStored) assert.ok(kind === 'answered' || kind === 'mismatch', 'A stored response was lost');
  });

const key = itemKey(kinds.lockout, partitionKey('lock', { hash: 'x' }));
const lock: Lock = {
  key,
  leaseMs: 35_000,
  patienceMs: 10_000,
  refusal: (retryAfter) => new AppError('TOO_MANY_WRITERS', 'Locked', { retryAfter }),
};

/** Runs that work under one lock. `act` is `withLock`, or a lock that is wrong on purpose. */
export const lockModel = (name: string, act: (work: () => Promise<void>) => Promise<void>) =>
  model(name, fc.integer({ min: 1, max: 4 }), async (world, runs) => {
    const { enter, leave } = exclusive(world);
    const results = times(runs, () =>
      world.actor(() =>
        act(async () => {
          enter();
          await world.sleep(2000);
          leave();
        }),
      ),
    );
    await world.finish();
    if (runs === 1) assert.notEqual(results[0]?.outcome.kind, 'rejected', 'A run waited for its own lock');
    world.now += 36_000;
    await act(async () => undefined);
  });

export const keys = [
  keyModel('idempotency keys', false),
  keyModel('idempotency keys of requests that can be repeated', true),
  lockModel('locks', (work) => withLock(lock, work)),
];

/** Its end releases the lock of any run. */
export const lockWithoutRun = async (work: () => Promise<void>): Promise<void> => {
  const now = clock.now();
  const { done } = await write({
    update: key,
    change: 'SET #until = :until',
    condition: 'attribute_not_exists(#until) OR #until <= :now',
    values: { until: now + 5000, now },
  });
  if (!done) return;
  await work();
  await write({ update: key, change: 'REMOVE #until' });
};
